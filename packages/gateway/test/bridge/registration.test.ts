import { describe, expect, test } from 'vitest';
import { openHarness, owner, place } from './harness.ts';

const colleague = { ...owner, accountId: 'bob', workerKey: 'worker-2' };
const stranger = { ...owner, accountId: 'eve', organizationId: 'other' };

describe('a registration', () => {
  test('is refused with the environment while another one stands, and lapses after 45 s of silence', async () => {
    const { engine, register, clock } = openHarness();
    const id = await register();
    await clock.advance(44_999);
    await expect(register()).rejects.toMatchObject({
      code: 'already_registered',
      details: { environment_id: id, retry_after_ms: 1 },
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
    const again = await engine.bridge.register(owner, { ...place, environment_id: id }, 'device');
    expect(again.environment_id).toBe(id);
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
