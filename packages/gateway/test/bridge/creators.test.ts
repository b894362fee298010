import { join } from 'node:path';
import type { Caller } from '@sallyport/bridge/server';
import { expect, onTestFinished, test } from 'vitest';
import { bridgeReads } from '../../src/store/embedded/bridge-reads.ts';
import { migrations } from '../../src/store/embedded/contents.ts';
import { openDatabase } from '../../src/store/embedded/database.ts';
import { migrate } from '../../src/store/embedded/migrate.ts';
import { openReader } from '../../src/store/embedded/reader.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { openHarness, owner, sessionRequest } from './harness.ts';

const bob: Caller = { ...owner, accountId: 'bob' };

test('a session says who created it, whoever reads it', async () => {
  const { engine, register } = openHarness();
  const request = sessionRequest(await register());
  const create = (caller: Caller) => engine.sessions.create(caller, request, { idempotencyKey: 'key' });
  const created = await create(bob);
  expect(created.account).toEqual({ id: 'bob' });
  // The one that was made before, read from the store.
  expect(await create(bob)).toEqual(created);
  expect((await engine.sessions.get(owner, created.id)).account).toEqual({
    id: 'bob',
    email: 'bob@example.com',
  });
  expect((await create(owner)).account).toEqual({ id: 'ann' });
});

test('an environment says whose it is, whoever reads it: a managed one who created it, a bridge who runs it', async () => {
  const { engine, register } = openHarness();
  const account = { id: 'bob', email: 'bob@example.com' };
  const request = { machine_name: 'runner', directory: '/srv', metadata: {} };
  const { id } = await engine.environments.create(bob, request);
  expect((await engine.environments.get(owner, id)).account).toEqual(account);
  expect((await engine.environments.list(owner, { limit: 10 })).items).toMatchObject([{ id, account }]);
  await register(bob);
  const { organizationId } = owner;
  const query = { organizationId, workerTypes: ['cowork'], limit: 10 };
  expect((await engine.bridge.list(owner, query)).items).toMatchObject([{ account }]);
});

test('the sessions of one account are listed page by page, newest first, and no others', async () => {
  const { engine, register, clock } = openHarness();
  const request = sessionRequest(await register());
  const elsewhere: Caller = { ...bob, organizationId: 'elsewhere' };
  const foreign = sessionRequest(await register(elsewhere));
  const ofBob: string[] = [];
  for (let round = 0; round < 5; round++) {
    await engine.sessions.create(owner, request);
    // In one millisecond, in part: then their ids decide.
    ofBob.push((await engine.sessions.create(bob, request)).id);
    if (round % 2 === 0) clock.jump(1000);
    await engine.sessions.create(elsewhere, foreign);
  }
  const listed: string[] = [];
  let offset: string | undefined;
  do {
    const page = await engine.sessions.list(owner, { limit: 2, offset, accountId: 'bob' });
    listed.push(...page.items.map(({ id }) => id));
    offset = page.next;
  } while (offset !== undefined);
  const all = (await engine.sessions.list(owner, { limit: 100 })).items.map(({ id }) => id);
  expect(all).toHaveLength(10);
  expect(listed).toEqual(all.filter((id) => ofBob.includes(id)));
  expect(listed).toHaveLength(5);
  expect((await engine.sessions.list(owner, { limit: 2, accountId: 'nobody' })).items).toEqual([]);
});

test('the sessions of a store of before are found by who created them, without a look at those of others', async () => {
  const path = join(scratchDirectory(), 'store.db');
  const db = openDatabase(path);
  onTestFinished(() => db.close());
  const place = migrations.findIndex(({ name }) => name === 'bridge: sessions by account and organization');
  migrate(db, migrations.slice(0, place), { now: 1, apply: true });
  for (const [id, account] of [
    ['session_1', 'ann'],
    ['session_2', 'bob'],
  ] as const)
    db.exec(
      `INSERT INTO session (id, organization_id, account_id, environment_id, work_id, title, tags, context, created_at, updated_at)
         VALUES ('${id}', 'org', '${account}', 'env', 'work_${id}', '', '[]', '{}', 1, 1);
       INSERT INTO work (id, environment_id, session_id, type, state, created_at)
         VALUES ('work_${id}', 'env', '${id}', 'session', 'done', 1)`,
    );
  migrate(db, migrations, { now: 2, apply: true });
  const reader = openReader(path);
  onTestFinished(() => reader.close());
  const asked: string[] = [];
  const reads = bridgeReads({
    ...reader,
    query(sql) {
      asked.push(sql);
      return reader.query(sql);
    },
  });
  const page = { organizationId: 'org', accountId: 'bob', limit: 10, before: undefined };
  expect((await reads.sessions(page)).items.map(({ id }) => id)).toEqual(['session_2']);
  // Of another organization, too, which has to be passed by neither: for the list, and for an export and an erasure.
  const byAccount = asked.filter((sql) => /FROM session s .* WHERE s\.account_id = \?/s.test(sql));
  const plans = byAccount.map((sql) =>
    db
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all('bob', 'org', 'z', 10)
      .map(({ detail }) => String(detail)),
  );
  expect(plans.map(([first]) => first)).toEqual([
    'SEARCH s USING INDEX session_account (account_id=? AND organization_id=? AND id<?)',
    'SEARCH s USING INDEX session_account (account_id=? AND (organization_id,id)>(?,?))',
  ]);
  expect(plans.flat().join()).not.toContain('TEMP B-TREE');
});
