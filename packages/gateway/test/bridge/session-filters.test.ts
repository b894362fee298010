import type { Caller } from '@sallyport/bridge/server';
import { contract } from '@sallyport/core/contract';
import { expect, test } from 'vitest';
import { openHarness, owner, sessionRequest } from './harness.ts';

type Asked = Parameters<ReturnType<typeof openHarness>['engine']['sessions']['list']>[1];

test('sessions are listed by environment, status and tag, and each filter leaves out what the others would give', async () => {
  const { engine, register, session, poll, clock } = openHarness();
  const [here, there] = [await register(), await register({ ...owner, accountId: 'bob' })];
  const running = await session(here, { tags: ['ci', 'x'] });
  await poll(here);
  await engine.bridge.ack(owner, { environmentId: here, workId: running.workId });
  const queued = await session(here, { tags: ['ci'] });
  const elsewhere = await session(there, { tags: ['cirrus'] });
  const list = async (query: Omit<Asked, 'limit'>) =>
    (await engine.sessions.list(owner, { limit: 10, ...query })).items.map(({ id }) => id);
  expect(await list({})).toEqual([elsewhere.id, queued.id, running.id]);
  expect(await list({ environmentId: here })).toEqual([queued.id, running.id]);
  expect(await list({ statuses: ['running'] })).toEqual([running.id]);
  expect(await list({ statuses: ['running', 'queued'], environmentId: there })).toEqual([elsewhere.id]);
  expect(await list({ tag: 'ci' })).toEqual([queued.id, running.id]);
  expect(await list({ tag: 'ci', accountId: 'nobody' })).toEqual([]);
  // The status is that of this very moment: nobody has heard of the bridge for a while.
  clock.jump(46_000);
  expect(await list({ statuses: ['running'] })).toEqual([]);
  expect(await list({ statuses: ['disconnected'] })).toEqual([running.id]);
});

test('a filter that fits few reads a bounded number, and goes on where it left off', async () => {
  const { engine, register, db } = openHarness();
  const environment = await register();
  const wanted = sessionRequest(environment, { tags: ['rare'] });
  const first = await engine.sessions.create(owner, wanted);
  db.exec(`
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
    INSERT INTO session (id, organization_id, account_id, environment_id, work_id, title, tags, context, created_at, updated_at)
      SELECT 'session_' || i, 'org', 'ann', '${environment}', 'work_' || i, '', '[]', '{}', 9e12 + i, 1 FROM n;
    INSERT INTO work (id, environment_id, session_id, type, state, created_at)
      SELECT 'work_' || substr(id, 9), environment_id, id, 'session', 'done', 1 FROM session WHERE created_at >= 9e12`);
  const found: string[][] = [];
  let offset: string | undefined;
  do {
    const page = await engine.sessions.list(owner, { limit: 2, offset, tag: 'rare' });
    found.push(page.items.map(({ id }) => id));
    offset = page.next;
  } while (offset !== undefined);
  expect(found).toEqual([[], [], [first.id]]);
});

test('no list reads what its sessions were given, which may be as much as a request', async () => {
  const { engine, register, session, db } = openHarness();
  const { id } = await session(await register(), { tags: ['ci'] });
  db.exec("UPDATE session SET context = 'cannot be read'");
  for (const query of [{}, { tag: 'ci' }, { accountId: owner.accountId }])
    expect((await engine.sessions.list(owner, { limit: 1, ...query })).items).toMatchObject([{ id }]);
  await expect(engine.sessions.get(owner, id)).rejects.toThrow(SyntaxError);
});

test('of a filtered list a page has what was asked for, and the next begins behind it', async () => {
  const { engine, register, session, clock } = openHarness();
  const environment = await register();
  const foreign: Caller = { ...owner, organizationId: 'elsewhere' };
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    ids.unshift((await session(environment, { tags: ['even'] })).id);
    await session(environment);
    clock.jump(1);
  }
  const page = async (offset?: string) =>
    engine.sessions.list(owner, { limit: 2, offset, tag: 'even', environmentId: environment });
  const first = await page();
  const second = await page(first.next);
  const third = await page(second.next);
  const shown = [first, second, third].map(({ items }) => items.map(({ id }) => id));
  expect(shown).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  expect(third.next).toBeUndefined();
  expect((await engine.sessions.list(foreign, { limit: 2, environmentId: environment })).items).toEqual([]);
});

test.each([
  ['running', true],
  ['running,queued', true],
  ['', false],
  ['running,', false],
  ['nope', false],
])('the status %j is one to ask for: %s', (status, isOne) => {
  expect(contract.sessions.list.query.safeParse({ status }).success).toBe(isOne);
});
