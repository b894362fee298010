import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { scratchDirectory } from '../../../test/store/scratch.ts';
import { migrations } from './contents.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { openEmbeddedStore } from './store.ts';

const place = migrations.findIndex(({ name }) => name === 'telemetry: idempotency keys in their order');

test('keys of before are known, and the oldest of them is the first that is forgotten', async () => {
  const path = join(scratchDirectory(), 'store.db');
  const db = openDatabase(path);
  migrate(db, migrations.slice(0, place), { now: 1, apply: true });
  const insert = db.prepare("INSERT INTO telemetry_idempotency VALUES ('a', 'o', ?, 'f', ?)");
  for (const [key, createdAt] of [
    ['late', 30],
    ['early', 10],
    ['between', 20],
  ] as const)
    insert.run(key, createdAt);
  db.close();

  const store = await openEmbeddedStore({ path });
  onTestFinished(() => store.close());
  const append = async (key: string, maxKeys: number) => {
    const idempotency = { key, fingerprint: 'f', since: 0, maxKeys };
    const request = { accountId: 'a', organizationId: 'o', receivedAt: 40, skewMs: null, blocks: [] };
    return (await store.telemetry.appendRecords({ ...request, idempotency })).isReplay;
  };
  expect([await append('early', 10), await append('late', 10), await append('new', 3)]).toEqual([
    true,
    true,
    false,
  ]);
  expect([await append('between', 3), await append('late', 3), await append('early', 3)]).toEqual([
    true,
    true,
    false,
  ]);
});
