import { expect, test } from 'vitest';
import { openHarness, owner, type Harness } from './harness.ts';
import { handshake, runningSession, settled } from './running-session.ts';

const reconnect = ({ engine }: Harness, environmentId: string, sessionId: string, proof: Proof = null) =>
  engine.bridge.reconnect(owner, { environmentId, sessionId, proof });
type Proof = Awaited<ReturnType<Harness['engine']['worker']['prove']>>;

test('work whose worker is gone is queued at once, once, and its next worker has a higher epoch', async () => {
  const run = await runningSession();
  const { socket, claims } = await handshake(run, run.id);
  socket.hangUp();
  await settled();
  const queued = { environment_id: run.env, session_id: run.id, state: 'queued' };
  expect(await reconnect(run, run.env, run.id)).toEqual(queued);
  expect(await reconnect(run, run.env, run.id)).toEqual(queued);
  expect(run.db.prepare('SELECT attempt FROM work').get()).toMatchObject({ attempt: 2 });
  await expect(run.engine.worker.register(claims, run.id)).rejects.toMatchObject({ code: 'stale_epoch' });
  expect(await run.poll(run.env)).toBe(run.workId);
  await run.engine.bridge.ack(owner, { environmentId: run.env, workId: run.workId });
  const next = await handshake(run, run.id);
  expect(next.claims.epoch).toBeGreaterThan(claims.epoch);
  const statuses = (await run.events(run.id)).flatMap(({ data }) => data['status'] ?? []);
  expect(statuses).toEqual(['running', 'queued', 'running']);
  await run.engine.stop();
});

test('a live worker keeps its session for at most 45 s after its last frame; its own proof is let through', async () => {
  const run = await runningSession();
  const { socket, token } = await handshake(run, run.id);
  await run.clock.advance(40_000);
  socket.pong();
  await run.clock.advance(5000);
  await expect(reconnect(run, run.env, run.id)).rejects.toMatchObject({
    code: 'session_active',
    status: 409,
    details: { session_id: run.id, retry_after_ms: 40_000 },
  });
  const proof = await run.engine.worker.prove(token);
  expect(await reconnect(run, run.env, run.id, proof)).toMatchObject({ state: 'active' });
  expect(socket.closed).toBeUndefined();
  await run.clock.advance(40_000);
  expect(await reconnect(run, run.env, run.id)).toMatchObject({ state: 'queued' });
  await run.engine.stop();
});

test('a live stream of another replica counts, and so does the newer of two streams', async () => {
  const run = await runningSession();
  const first = await handshake(run, run.id);
  await handshake(run, run.id, { workerToken: first.token });
  await settled();
  expect(first.socket.closed).toBe('terminated');
  const replica = run.restart();
  const other = { environmentId: run.env, sessionId: run.id, proof: null };
  await expect(replica.bridge.reconnect(owner, other)).rejects.toMatchObject({ code: 'session_active' });
  await run.engine.stop();
});

test('the last attempt that is gone too ends the session', async () => {
  const run = await runningSession({ maxAttempts: 1 });
  expect(await reconnect(run, run.env, run.id)).toMatchObject({ state: 'failed' });
  await expect(reconnect(run, run.env, run.id)).rejects.toMatchObject({ code: 'session_ended', status: 409 });
  await run.engine.stop();
});

test('what waits stays in its place, and what is to stop is not begun anew', async () => {
  const run = await runningSession();
  const waiting = await run.session(run.env);
  expect(await reconnect(run, run.env, waiting.id)).toMatchObject({ state: 'queued' });
  expect(await run.poll(run.env)).toBe(waiting.workId);
  expect(await reconnect(run, run.env, waiting.id)).toMatchObject({ state: 'delivered' });
  await run.engine.bridge.stop(owner, {
    environmentId: run.env,
    workId: run.workId,
    force: false,
    proof: null,
  });
  expect(await reconnect(run, run.env, run.id)).toMatchObject({ state: 'stopping' });
  await run.engine.stop();
});

test('there is no such session: unknown, of another environment, or deleted; nor such an environment', async () => {
  const run = await runningSession();
  const elsewhere = await run.engine.bridge.register(
    owner,
    { machine_name: 'laptop', directory: '/b' },
    'device',
  );
  const missing = { status: 404 };
  await expect(reconnect(run, run.env, 'session_none')).rejects.toMatchObject(missing);
  await expect(reconnect(run, elsewhere.environment_id, run.id)).rejects.toMatchObject(missing);
  await expect(reconnect(run, 'env_none', run.id)).rejects.toMatchObject(missing);
  await run.engine.sessions.delete(owner, run.id);
  await expect(reconnect(run, run.env, run.id)).rejects.toMatchObject(missing);
  await run.engine.stop();
});

test('an environment that was left is shown again by the reconnect', async () => {
  const run = openHarness();
  const env = await run.register();
  const { id } = await run.session(env);
  await run.engine.bridge.leave(owner, env, undefined);
  await run.clock.advance(1);
  await reconnect(run, env, id);
  const { items } = await run.engine.bridge.list(owner, {
    organizationId: 'org',
    workerTypes: ['cowork'],
    limit: 1,
  });
  expect(items).toMatchObject([{ status: 'online' }]);
});

test('what a bridge acknowledged and never began waits again as soon as its environment is registered anew', async () => {
  const run = await runningSession();
  await run.clock.advance(45_000);
  expect(await run.register()).toBe(run.env);
  expect(await run.poll(run.env)).toBe(run.workId);
  const statuses = (await run.events(run.id)).flatMap(({ data }) => data['status'] ?? []);
  expect(statuses).toEqual(['running', 'queued']);
  await run.engine.stop();
});

test("another worker's polls do not keep alive what it did not acknowledge", async () => {
  const run = await runningSession({ firstAttachSeconds: 60 });
  run.db.prepare("UPDATE work SET acked_by = 'someone else'").run();
  for (let seconds = 0; seconds < 100; seconds += 10) {
    await run.poll(run.env);
    await run.clock.advance(10_000);
  }
  expect(run.db.prepare('SELECT attempt FROM work').get()).toMatchObject({ attempt: 2 });
  await run.engine.stop();
});
