import { closeCodes, createBridgeAccountData, defaultBridgeConfig } from '@sallyport/bridge/server';
import { expect, test, vi } from 'vitest';
import { owner, testEmails } from './harness.ts';
import { handshake, runningSession, settled } from './running-session.ts';
import { openSocket } from './socket.ts';

/** A bridge at work whose session somebody follows, and what is done to its data beside this process. */
async function atWork() {
  const harness = await runningSession();
  const { engine, env, id } = harness;
  const { socket: worker } = await handshake(harness, id);
  const hints = openSocket();
  (await engine.bridge.open(owner, env))(hints);
  const held = harness.hold(env, { blockMs: 60_000 });
  const followed = (async () => {
    const signal = new AbortController().signal;
    for await (const _ of await engine.sessions.follow(owner, id, { from: 0, signal }));
    return 'ended';
  })();
  await settled();
  /** Time that passes with a worker, and a bridge, that answer pings. */
  async function pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      await harness.clock.advance(1000);
      worker.pong();
      hints.pong();
      await settled();
    }
  }
  return { ...harness, worker, hints, held, followed, pass, other: harness.restart() };
}

const { pingSeconds } = defaultBridgeConfig;
const gone = { code: closeCodes.gone, reason: 'gone' };

test('an environment that another process deletes ends its held polls and hints within seconds, and its workers', async () => {
  const { env, held, hints, worker, followed, pass, other, engine, devices } = await atWork();
  const refused = expect(held).rejects.toMatchObject({ code: 'environment_deleted', status: 404 });
  await other.environments.delete(owner, env);
  await pass(2);
  await refused;
  expect(hints.closed).toEqual(gone);
  await pass(pingSeconds);
  expect(worker.closed).toEqual(gone);
  expect(devices.watches()).toBe(0);
  expect(engine.stats()).toEqual({ workerStreams: 0, hintStreams: 0, heldPolls: 0 });
  // Who reads its session's log may read on.
  expect(await Promise.race([followed, settled().then(() => 'open')])).toBe('open');
});

test('a session that another process deletes ends its worker and who follows it, and nothing else', async () => {
  const { id, held, hints, worker, followed, pass, other } = await atWork();
  await other.sessions.delete(owner, id);
  await pass(pingSeconds);
  expect(await followed).toBe('ended');
  expect(worker.closed).toEqual(gone);
  expect(hints.closed).toBe(undefined);
  expect(await Promise.race([held.then(() => 'answered'), settled().then(() => 'held')])).toBe('held');
});

test('an account that an operator erases ends all of it', async () => {
  const { acts, reads, held, hints, worker, followed, pass, clock } = await atWork();
  const refused = expect(held).rejects.toMatchObject({ code: 'environment_deleted' });
  const store = { acts, reads };
  const data = createBridgeAccountData({ store, accounts: testEmails, clock, config: defaultBridgeConfig });
  expect(await data.erase(owner.accountId)).toMatchObject({ environments: 1, sessions: 1 });
  await pass(pingSeconds);
  await refused;
  expect(await followed).toBe('ended');
  expect([hints.closed, worker.closed]).toEqual([gone, gone]);
});

test('polls of a thousand environments are looked at in a few reads; a store that is away ends none', async () => {
  const harness = await runningSession();
  const answers: unknown[] = [];
  for (let at = 0; at < 1000; at++) {
    const { environment_id: env } = await harness.engine.bridge.register(
      owner,
      { machine_name: 'm', directory: `/d/${at}` },
      'device',
    );
    void harness
      .hold(env, { blockMs: 60_000 })
      .catch((error: unknown) => error)
      .then((answer) => answers.push(answer));
  }
  await settled();
  const reads = vi.spyOn(harness.reads, 'registeredAmong');
  await harness.clock.advance(2000);
  await settled();
  expect(reads).toHaveBeenCalledTimes(2);
  reads.mockRejectedValueOnce(new Error('The store is away.'));
  await harness.clock.advance(2000);
  await settled();
  expect(answers).toEqual([]);
});
