import { closeCodes, type Caller } from '@sallyport/bridge/server';
import { expect, test } from 'vitest';
import { openHarness, owner, place } from './harness.ts';
import { handshake, runningSession, settled } from './running-session.ts';
import { openSocket } from './socket.ts';

const revoked = { code: 'device_revoked', status: 401 };
const gone = { code: closeCodes.revoked, reason: 'device_revoked' };

/** A bridge of `device` whose worker runs a session; it polls, and listens to hints. */
async function atWork() {
  const harness = await runningSession();
  const { engine, env, id } = harness;
  const worker = await handshake(harness, id);
  const hints = openSocket();
  (await engine.bridge.open(owner, env))(hints);
  const held = harness.hold(env, { blockMs: 60_000 });
  held.catch(() => undefined);
  await settled();
  return { ...harness, worker, hints, held };
}

test('a device that is revoked ends what is open by it at once: the held poll, hints, and the worker', async () => {
  const { devices, held, hints, worker } = await atWork();
  devices.revoke('another');
  await settled();
  expect([hints.closed, worker.socket.closed]).toEqual([undefined, undefined]);
  devices.revoke('device');
  await expect(held).rejects.toMatchObject(revoked);
  expect([hints.closed, worker.socket.closed]).toEqual([gone, gone]);
  expect(devices.watches()).toBe(0);
});

test('nothing of a bridge, or of its workers, is served any more; people go on with its environment', async () => {
  const harness = await atWork();
  const { engine, env, id, workId, devices, worker, tokens } = harness;
  devices.revoke('device');
  const session = await harness.session(env);
  const work = { environmentId: env, workId: session.workId };
  const { claims } = worker;
  const calls = {
    poll: () => engine.bridge.poll(owner, { environmentId: env }),
    ack: () => engine.bridge.ack(owner, work),
    reconnect: () => engine.bridge.reconnect(owner, { environmentId: env, sessionId: id, proof: null }),
    hints: () => engine.bridge.open(owner, env),
    handshake: () => engine.worker.takeOver(owner, id, {}),
    register: () => engine.worker.register(claims, id),
    stream: () => engine.worker.open(claims, id, { from: undefined }),
    heartbeat: () => engine.worker.append(claims, id, { events: [], takenSeq: undefined }),
    registration: () => engine.bridge.register(owner, place, 'device'),
  };
  for (const [name, call] of Object.entries(calls)) await expect(call(), name).rejects.toMatchObject(revoked);

  expect(await engine.environments.get(owner, env)).toMatchObject({ id: env });
  expect(
    await engine.bridge.stop(owner, { environmentId: env, workId, force: true, proof: null }),
  ).toMatchObject({ id: workId });
  expect(await engine.bridge.leave(owner, env, undefined)).toMatchObject({ status: 'offline' });

  // From a good device it is taken up again; what the other one had stays refused.
  const again = await engine.bridge.register(owner, { ...place, environment_id: env }, 'good');
  expect(again.environment_id).toBe(env);
  expect(await harness.poll(env)).toBe(session.workId);
  await engine.bridge.ack(owner, work);
  const { worker_jwt: token } = await engine.worker.takeOver(owner, session.id, {});
  await engine.worker.register(await tokens.verify(token), session.id);
  await expect(calls.register()).rejects.toMatchObject(revoked);
  expect(await engine.bridge.unregister(owner, env)).toMatchObject({ deleted: true });
});

const turns = Array.from({ length: 12 }, (_, turn) => turn);

test.each(turns)(
  'what is opened while the device is revoked is refused, or ends at once (turn %i)',
  async (turn) => {
    const harness = await runningSession();
    const { engine, env, id, devices } = harness;
    const { claims } = await handshake(harness, id);
    const [hints, stream] = [openSocket(), openSocket()];
    const opening = [
      harness.hold(env, { blockMs: 60_000 }),
      engine.bridge.open(owner, env).then((attach) => attach(hints)),
      engine.worker.open(claims, id, { from: undefined }).then((attach) => attach(stream)),
    ];
    const settling = Promise.allSettled(opening);
    for (let passed = 0; passed < turn; passed += 1) await Promise.resolve();
    devices.revoke('device');
    const [poll, ...sockets] = await settling;
    await settled();
    expect(poll).toMatchObject({ status: 'rejected', reason: revoked });
    for (const [index, socket] of [hints, stream].entries())
      if (sockets[index]?.status === 'fulfilled') expect(socket.closed).toEqual(gone);
      else expect(sockets[index]).toMatchObject({ reason: revoked });
    expect(devices.watches()).toBe(0);
  },
);

test('an admin who polls for it is refused for its device, too', async () => {
  const harness = openHarness();
  const env = await harness.register();
  const admin: Caller = { ...owner, accountId: 'bob', isAdmin: true, workerKey: 'b' };
  harness.devices.revoke('device');
  await expect(harness.hold(env, {}, admin)).rejects.toMatchObject(revoked);
});
