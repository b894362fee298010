import { expect, test } from 'vitest';
import { owner } from './harness.ts';
import { handshake, runningSession } from './running-session.ts';

test('work is counted by state as long as it has not ended, environments by whether they are there', async () => {
  const harness = await runningSession({ presenceWriteSeconds: 0.25 });
  const { engine, clock, env, session, workState } = harness;
  const { workId } = await session(env);
  await session(env);
  await handshake(harness, harness.id);
  expect(engine.stats()).toEqual({ workerStreams: 1, hintStreams: 0, heldPolls: 0 });
  expect(await engine.counts()).toEqual({ work: { queued: 2, active: 1 }, environments: { online: 1 } });

  const bob = { ...owner, accountId: 'bob', workerKey: 'worker-2' };
  const held = harness.hold(await harness.register(bob), { blockMs: 1000 }, bob);
  await expect.poll(() => engine.stats().heldPolls).toBe(1);
  await clock.advance(2000);
  await held;
  expect(engine.stats().heldPolls).toBe(0);

  await engine.bridge.stop(owner, { environmentId: env, workId, force: true, proof: null });
  expect(workState(workId)).toBe('stopped');
  await engine.bridge.leave(owner, env, undefined);
  expect(await engine.counts()).toMatchObject({
    work: { queued: 1 },
    environments: { online: 1, offline: 1 },
  });
  await clock.advance(46_000);
  expect((await engine.counts()).environments).toEqual({ disconnected: 1, offline: 1 });
  await clock.advance(300_000);
  expect((await engine.counts()).environments).toEqual({ offline: 2 });
  clock.jump(8 * 24 * 3600_000);
  expect((await engine.counts()).environments).toEqual({});
});
