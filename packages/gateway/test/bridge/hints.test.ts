import { expect, test } from 'vitest';
import { openHarness, owner } from './harness.ts';
import { settled } from './running-session.ts';
import { openSocket, type TestSocket } from './socket.ts';

/** A registered environment and its bridge's socket; no work yet. */
async function connected() {
  const harness = openHarness();
  const env = await harness.register();
  await harness.engine.start();
  const connect = async () => {
    const socket = openSocket();
    (await harness.engine.bridge.open(owner, env))(socket);
    await settled();
    return socket;
  };
  return { ...harness, env, connect, socket: await connect() };
}

const hints = ({ frames }: TestSocket): readonly unknown[] => frames;

test('a bridge is told of work as it comes, and of what waits when it connects; nothing is granted', async () => {
  const { socket, connect, session, poll, env, workState } = await connected();
  expect(hints(socket)).toEqual([]);
  const { workId } = await session(env);
  await settled();
  const hint = { type: 'work.available', work_id: workId };
  expect(hints(socket)).toEqual([hint]);
  expect(hints(await connect())).toEqual([hint]);
  expect(workState(workId)).toBe('queued');
  expect(await poll(env)).toBe(workId);
});

test('a bridge is told of stops, graceful and forced, once each', async () => {
  const { socket, engine, session, poll, env, clock } = await connected();
  const { workId } = await session(env);
  await poll(env);
  await engine.bridge.ack(owner, { environmentId: env, workId });
  const stop = (force: boolean) =>
    engine.bridge.stop(owner, { environmentId: env, workId, force, proof: null });
  await settled();
  const before = hints(socket).length;
  for (const force of [false, false, true]) {
    await clock.advance(1);
    await stop(force);
    await settled();
  }
  expect(hints(socket).slice(before)).toEqual([
    { type: 'work.stop', work_id: workId, force: false },
    { type: 'work.stop', work_id: workId, force: true },
  ]);
  await engine.stop();
});

test('an open socket keeps the registration, and one without a frame is dropped after 45 s', async () => {
  const { socket, engine, clock, register } = await connected();
  for (let i = 0; i < 6; i++) {
    await clock.advance(20_000);
    socket.pong();
  }
  expect(socket.pings).toBe(6);
  await clock.advance(44_000);
  await expect(register()).rejects.toMatchObject({ code: 'already_registered' });
  await clock.advance(1250);
  expect(socket.closed).toBe('terminated');
  await register();
  await engine.stop();
});

test('the end of the environment, its farewell and an hour end it', async () => {
  const deleted = await connected();
  await deleted.engine.bridge.unregister(owner, deleted.env);
  await settled();
  expect(deleted.socket.closed).toMatchObject({ code: 4410 });

  const left = await connected();
  await left.engine.bridge.leave(owner, left.env, undefined);
  await settled();
  expect(left.socket.closed).toEqual({ code: 1000, reason: 'disconnected' });
  left.socket.pong();
  const { items } = await left.engine.bridge.list(owner, {
    organizationId: 'org',
    workerTypes: ['cowork'],
    limit: 1,
  });
  expect(items).toMatchObject([{ status: 'offline' }]);

  const old = await connected();
  for (let i = 0; i < 91; i++) {
    await old.clock.advance(40_000);
    old.socket.pong();
  }
  expect(old.socket.closed).toMatchObject({ code: 4401 });
  for (const { engine } of [deleted, left, old]) await engine.stop();
});

test('a service that drains says when to come back, and takes no new socket', async () => {
  const { socket, engine, connect, clock } = await connected();
  const drained = engine.drain();
  await clock.advance(1000);
  await drained;
  expect(hints(socket)).toEqual([{ type: 'draining', reconnect_in_ms: expect.any(Number) as number }]);
  expect(socket.closed).toMatchObject({ code: 1012 });
  await expect(connect()).rejects.toMatchObject({ code: 'draining' });
});

test('it is for the account of the environment and for admins', async () => {
  const { engine, env } = await connected();
  const colleague = { ...owner, accountId: 'bob' };
  await expect(engine.bridge.open(colleague, env)).rejects.toMatchObject({ status: 403 });
  await expect(engine.bridge.open({ ...owner, organizationId: 'other' }, env)).rejects.toMatchObject({
    status: 404,
  });
  await engine.bridge.open({ ...colleague, isAdmin: true }, env);
  await engine.stop();
});
