import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { scratchDirectory } from '../../../test/store/scratch.ts';
import { migrations } from './contents.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { openEmbeddedStore } from './store.ts';

const place = migrations.findIndex(({ name }) => name.startsWith('telemetry: a queue for each organization'));

test('what waited in one queue waits in its order, is counted, and what comes stands behind it', async () => {
  const path = join(scratchDirectory(), 'store.db');
  const db = openDatabase(path);
  migrate(db, migrations.slice(0, place), { now: 1, apply: true });
  const insert = db.prepare(
    'INSERT INTO telemetry_outbox (id, received_at, bytes, path, headers, body) VALUES (?, ?, ?, ?, ?, ?)',
  );
  for (const id of [3, 1, 7])
    insert.run(id, 1000 - id, 100 + id, `/${id}`, '["a","b"]', Buffer.from(`body ${id}`));
  db.close();

  const store = await openEmbeddedStore({ path });
  onTestFinished(() => store.close());
  const { outbox } = store;
  expect(await outbox.head()).toEqual({
    requests: 3,
    records: 3,
    bytes: 311,
    oldestAt: 993,
    deadLetters: { requests: 0, records: 0, bytes: 0 },
  });
  expect(await outbox.queues()).toEqual(['']);
  const bounds = { maxBytes: 1e6, maxRecords: 1e6, reserveBytes: 0, whenFull: 'reject' } as const;
  const added = {
    organizationId: '',
    accountId: 'of the new one',
    receivedAt: 5,
    path: '/new',
    headers: [],
    body: Buffer.from(''),
    records: 2,
  };
  await outbox.keep({ ...added, bounds });
  const paths: string[] = [];
  for (let next; (next = await outbox.oldest({ organizationId: '' })); await outbox.settle({ id: next.id })) {
    paths.push(next.path);
    if (next.id === 3)
      expect([next.headers, Buffer.from(next.body).toString()]).toEqual([['a', 'b'], 'body 3']);
  }
  expect(paths).toEqual(['/1', '/3', '/7', '/new']);
  expect(await outbox.head()).toMatchObject({ requests: 0, records: 0, bytes: 0, oldestAt: null });
});
