import { describe, expect, test } from 'vitest';
import { openHarness, owner, place, sessionRequest } from './harness.ts';

const colleague = { ...owner, accountId: 'bob', workerKey: 'worker-2' };
const stranger = { ...owner, accountId: 'eve', organizationId: 'other' };

describe('a registration', () => {
  test('is refused with the environment while another one stands, and lapses after 45 s of silence', async () => {
    const { engine, register, clock } = openHarness();
    const id = await register();
    await clock.advance(44_999);
    await expect(register()).rejects.toMatchObject({
      code: 'already_registered',
      details: { environment_id: id, retry_after_ms: 1, yours: true },
    });
    await expect(register({ ...owner, workerKey: 'worker-2' })).rejects.toMatchObject({
      details: { environment_id: id, yours: false },
    });
    await clock.advance(1);
    expect(await register()).toBe(id);
    const { items } = await engine.bridge.list(owner, {
      organizationId: 'org',
      workerTypes: ['cowork'],
      limit: 100,
    });
    expect(items).toHaveLength(1);
  });

  test('is kept by polls, also by one that is not written yet', async () => {
    const { register, poll, clock } = openHarness();
    const id = await register();
    await clock.advance(44_000);
    await poll(id);
    await clock.advance(44_000);
    await expect(register()).rejects.toMatchObject({ code: 'already_registered' });
  });

  test('never lapses with a time of 0', async () => {
    const { register, clock } = openHarness({ registrationTtlSeconds: 0 });
    await register();
    clock.jump(365 * 24 * 3600_000);
    await expect(register()).rejects.toMatchObject({ code: 'already_registered' });
  });

  test("takes a free id as given, and another account's as unknown", async () => {
    const { engine } = openHarness();
    const sent = { ...place, environment_id: 'env_mine' };
    expect((await engine.bridge.register(owner, sent, 'device')).environment_id).toBe('env_mine');
    for (const other of [colleague, stranger]) {
      const { environment_id } = await engine.bridge.register(other, sent, `${other.accountId}-device`);
      expect(environment_id).toMatch(/^env_/);
      expect(environment_id).not.toBe('env_mine');
    }
    const malformed = await engine.bridge.register(
      owner,
      { ...place, directory: '/b', environment_id: '../x' },
      'device',
    );
    expect(malformed.environment_id).toMatch(/^env_\w+$/);
  });

  test('needs a trusted device', async () => {
    const { engine } = openHarness();
    await expect(engine.bridge.register(owner, place, 'revoked')).rejects.toMatchObject({ status: 401 });
  });

  test('that is deleted stops its work, and is told from one that never was', async () => {
    const { engine, register, session, poll, workState } = openHarness();
    const id = await register();
    const { workId, id: sessionId } = await session(id);
    await engine.bridge.unregister(owner, id);
    expect(workState(workId)).toBe('stopped');
    expect(await engine.sessions.get(owner, sessionId)).toMatchObject({ status: 'stopped' });
    await expect(poll(id)).rejects.toMatchObject({ code: 'environment_deleted' });
    await expect(poll(id, stranger)).rejects.toMatchObject({ code: 'not_found' });
    await expect(engine.bridge.unregister(owner, id)).rejects.toMatchObject({ status: 404 });
    // The bridge of that directory starts again, with what it remembers: it is another environment.
    const again = await engine.bridge.register(owner, { ...place, environment_id: id }, 'device');
    expect(again.environment_id).not.toBe(id);
    await expect(poll(id)).rejects.toMatchObject({ code: 'environment_deleted' });
  });
});

test('an environment that was deleted is known as that for a season', async () => {
  const { engine, register, clock } = openHarness();
  const days = async (count: number) => {
    clock.jump(count * 24 * 3600_000);
    // Each removal clears up behind others.
    await engine.bridge.unregister(owner, await register());
  };
  const id = await register();
  await engine.environments.delete(owner, id);
  const takeUp = async () =>
    (await engine.bridge.register(colleague, { ...place, environment_id: id }, 'other')).environment_id;
  await days(89);
  expect(await takeUp()).not.toBe(id);
  await days(2);
  await expect(engine.environments.get(owner, id)).rejects.toMatchObject({ code: 'not_found' });
});

test('a managed environment whose bridge was removed takes a bridge again, under its id', async () => {
  const { engine } = openHarness();
  const { id } = await engine.environments.create(owner, { ...place, metadata: {} });
  const sent = { ...place, environment_id: id };
  for (let round = 0; round < 2; round += 1) {
    expect((await engine.bridge.register(owner, sent, 'device')).environment_id).toBe(id);
    await engine.bridge.unregister(owner, id);
  }
});

describe('a bridge that says it stops', () => {
  const listed = async ({ engine }: ReturnType<typeof openHarness>) => {
    const query = { organizationId: 'org', workerTypes: ['cowork'], limit: 100 };
    return (await engine.bridge.list(owner, query)).items.map(({ status, last_seen_at }) => ({
      status,
      last_seen_at,
    }));
  };

  test('is offline at once, keeps the time it was seen and its waiting work, and may register again', async () => {
    const harness = openHarness();
    const { engine, register, session, poll, clock, db, workState } = harness;
    const id = await register();
    await clock.advance(1000);
    await poll(id);
    const { workId } = await session(id);
    const [before] = await listed(harness);
    await clock.advance(1000);
    expect(await listed(harness)).toEqual([before]);
    expect(await engine.bridge.leave(owner, id, 'worker-1')).toEqual({
      environment_id: id,
      status: 'offline',
    });
    expect(await listed(harness)).toEqual([{ ...before, status: 'offline' }]);
    // Another replica reads what is stored.
    expect(
      await harness
        .restart()
        .bridge.list(owner, { organizationId: 'org', workerTypes: ['cowork'], limit: 1 }),
    ).toMatchObject({ items: [{ status: 'offline' }] });
    expect(workState(workId)).toBe('queued');
    await clock.advance(1);
    expect(await register()).toBe(id);
    expect(await listed(harness)).toMatchObject([{ status: 'online' }]);
    expect(db.prepare('SELECT generation FROM bridge_registration').get()).toMatchObject({ generation: 2 });
    expect(await poll(id)).toBe(workId);
  });

  test('is seen again by its next poll, and then registered', async () => {
    const harness = openHarness();
    const id = await harness.register();
    await harness.engine.bridge.leave(owner, id, undefined);
    await harness.clock.advance(1);
    await harness.poll(id);
    expect(await listed(harness)).toMatchObject([{ status: 'online' }]);
    await expect(harness.register()).rejects.toMatchObject({ code: 'already_registered' });
  });

  test('gets null for its held poll, and that poll is no sign of life any more', async () => {
    const harness = openHarness();
    const { engine, register, hold, clock } = harness;
    const id = await register();
    await engine.start();
    const held = hold(id, { blockMs: 60_000 });
    await clock.advance(1000);
    await engine.bridge.leave(owner, id, 'worker-1');
    expect((await held).work).toBeNull();
    await clock.advance(1000);
    expect(await listed(harness)).toMatchObject([{ status: 'offline' }]);
    await engine.stop();
  });

  test('is nobody but the one that registered: another worker, account or organization changes nothing', async () => {
    const harness = openHarness();
    const { engine, register } = harness;
    const id = await register();
    expect(await engine.bridge.leave(owner, id, 'worker-2')).toMatchObject({ status: 'online' });
    await expect(engine.bridge.leave(colleague, id, undefined)).rejects.toMatchObject({ status: 403 });
    await expect(engine.bridge.leave(stranger, id, undefined)).rejects.toMatchObject({ status: 404 });
    expect(await listed(harness)).toMatchObject([{ status: 'online' }]);
    expect(await engine.bridge.leave({ ...colleague, isAdmin: true }, id, undefined)).toMatchObject({
      status: 'offline',
    });
  });

  test('counts as gone where running work lapses: the work waits, and no attempt is spent', async () => {
    const { engine, register, session, poll, clock, workState } = openHarness({ firstAttachSeconds: 10 });
    const id = await register();
    await engine.start();
    const { workId } = await session(id);
    await poll(id);
    await engine.bridge.ack(owner, { environmentId: id, workId });
    await clock.advance(1);
    await engine.bridge.leave(owner, id, undefined);
    await clock.advance(12_000);
    expect(workState(workId)).toBe('lost');
    await engine.stop();
  });
});

describe('presence', () => {
  test('is derived from when the environment was seen, and hides what was gone for a week', async () => {
    const { engine, register, clock } = openHarness();
    await register();
    const statuses = async () => {
      const query = { organizationId: 'org', workerTypes: ['cowork'], limit: 100 };
      return (await engine.bridge.list(owner, query)).items.map(({ status }) => status);
    };
    expect(await statuses()).toEqual(['online']);
    await clock.advance(45_000);
    expect(await statuses()).toEqual(['disconnected']);
    await clock.advance(255_000);
    expect(await statuses()).toEqual(['offline']);
    clock.jump(7 * 24 * 3600_000);
    expect(await statuses()).toEqual([]);
  });

  test('the list filters by worker type and goes on after a page', async () => {
    const { engine, clock } = openHarness();
    for (const [directory, worker_type] of [
      ['/a', 'cowork'],
      ['/b', 'ci'],
      ['/c', 'cowork'],
      ['/d', 'cowork'],
    ] as const) {
      await clock.advance(1);
      await engine.bridge.register(owner, { ...place, directory, metadata: { worker_type } }, 'device');
    }
    const page = (offset?: string) =>
      engine.bridge.list(owner, { organizationId: 'org', workerTypes: ['cowork'], limit: 2, offset });
    const first = await page();
    expect(first.items.map(({ directory }) => directory)).toEqual(['/d', '/c']);
    const second = await page(first.next);
    expect(second.items.map(({ directory }) => directory)).toEqual(['/a']);
    expect(second.next).toBeUndefined();
    await expect(page('nonsense')).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(
      engine.bridge.list(owner, { organizationId: 'other', workerTypes: ['cowork'], limit: 2 }),
    ).rejects.toMatchObject({ status: 404 });
  });
});

test('an environment is for its account and for admins; to another organization it is not there', async () => {
  const { register, poll, engine, session } = openHarness();
  const id = await register();
  const { workId } = await session(id);
  await expect(poll(id, colleague)).rejects.toMatchObject({ status: 403 });
  await expect(poll(id, stranger)).rejects.toMatchObject({ status: 404 });
  await expect(engine.bridge.ack(colleague, { environmentId: id, workId })).rejects.toMatchObject({
    status: 403,
  });
  expect(await poll(id, { ...colleague, isAdmin: true })).toBe(workId);
});

test('work is stopped by who created its session, by the account of its environment and by admins', async () => {
  const { register, engine, session } = openHarness();
  const env = await register();
  const { workId } = await session(env);
  const stop = (caller: typeof owner, work: string) =>
    engine.bridge.stop(caller, { environmentId: env, workId: work, force: false, proof: null });
  await expect(stop(colleague, workId)).rejects.toMatchObject({ status: 403 });
  await expect(stop(stranger, workId)).rejects.toMatchObject({ status: 404 });
  expect(await stop({ ...colleague, isAdmin: true }, workId)).toMatchObject({ state: 'stopped' });
  const hers = await engine.sessions.create(colleague, sessionRequest(env));
  expect(await stop(colleague, hers.work_id)).toMatchObject({ state: 'stopped' });
  const herOther = await engine.sessions.create(colleague, sessionRequest(env));
  expect(await stop(owner, herOther.work_id)).toMatchObject({ state: 'stopped' });
});

test('a session is deleted by who created it, by the account of its environment and by admins', async () => {
  const { register, engine, session } = openHarness();
  const env = await register();
  const { id } = await session(env);
  await expect(engine.sessions.delete(colleague, id)).rejects.toMatchObject({ status: 403 });
  await expect(engine.sessions.delete(stranger, id)).rejects.toMatchObject({ status: 404 });
  expect(await engine.sessions.delete({ ...colleague, isAdmin: true }, id)).toMatchObject({ deleted: true });
  const hers = await engine.sessions.create(colleague, sessionRequest(env));
  expect(await engine.sessions.delete(owner, hers.id)).toMatchObject({ deleted: true });
  const herOther = await engine.sessions.create(colleague, sessionRequest(env));
  expect(await engine.sessions.delete(colleague, herOther.id)).toMatchObject({ deleted: true });
});
