// actions/runner#1286: a machine is cloned, and two bridges with the same files are there.
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, type Clock } from '@sallyport/core';
import { expect, test } from 'vitest';
import { breakingLine } from './breaking-line.ts';
import { runBridge, temporaryState } from './run-bridge.ts';
import { createSession, serveBridge } from './serve-bridge.ts';

/** Rests a moment for the five seconds that the service asks of two that poll in one name. */
const impatient: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic(),
  after: (ms, act, options) => systemClock.after(ms >= 5_000 && ms <= 6_001 ? 50 : ms, act, options),
};

test('of a cloned machine each item runs once, both bridges are told, and none takes the registration away', async () => {
  const line = await breakingLine(() => Infinity);
  const bridge = await serveBridge({ apiBaseUrl: line.url });
  line.leadTo(bridge.url);
  const ran = temporaryState();
  const options = {
    ...bridge.clientOptions,
    baseUrl: line.url,
    run: `echo ran >> ${ran}/$SALLYPORT_SESSION_ID`,
  };
  const original = temporaryState();
  const before = runBridge({ ...options, stateDir: original });
  const { environmentId } = await before.until('polling');
  before.stop();
  await before.result;
  const clone = temporaryState();
  cpSync(original, clone, { recursive: true });

  const two = [original, clone].map((stateDir) => runBridge({ ...options, stateDir, clock: impatient }));
  await Promise.all(two.map(({ until }) => until('polling')));
  const count = 50;
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) ids.push((await createSession(bridge, environmentId)).id);
  await Promise.all(two.map(({ until }) => until('duplicated')));
  const counts = () => two.map(({ events }) => events.filter(({ type }) => type === 'session.ended').length);
  for (let [one = 0, other = 0] = counts(); one + other < count; [one = 0, other = 0] = counts())
    await Promise.race(two.map(({ until }, at) => until('session.ended', (at === 0 ? one : other) + 1)));

  expect(readdirSync(ran).sort()).toEqual(ids.sort());
  for (const id of ids) expect(readFileSync(join(ran, id), 'utf8')).toBe('ran\n');
  for (const ended of counts()) expect(ended).toBeGreaterThan(0);
  for (const { events } of two) {
    const registered = events.filter(({ type }) => type === 'registered');
    expect(registered).toEqual([{ type: 'registered', environmentId, resumed: true }]);
  }
});
