import { createIds, createLocalWakeups } from '@sallyport/core';
import { ManualClock, seededRandom } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { createBridgeEngine } from './engine.ts';
import type { BridgeStore } from './ports.ts';

const never = () => Promise.reject(new Error('nobody asks'));

test('stopping waits for one transaction of the sweep of old logs, however many are left', async () => {
  const clock = new ManualClock();
  let removals = 0;
  const acts = {
    extendLeases: () => Promise.resolve(),
    lapseWork: () => Promise.resolve([]),
    expireLogs: () => {
      const { promise, resolve } = Promise.withResolvers<{ removed: string[]; next: string }>();
      setImmediate(() => resolve({ removed: [], next: `session_${++removals}` }));
      return promise;
    },
  };
  const engine = createBridgeEngine({
    store: { acts, reads: {} } as unknown as BridgeStore,
    accounts: { emails: never },
    clock,
    random: seededRandom(),
    ids: createIds(clock, seededRandom()),
    wakeups: createLocalWakeups(),
    workerTokens: { mint: never, verify: never },
    devices: { check: never, stands: never, changes: 0, watch: () => undefined, unwatch: () => undefined },
    apiBaseUrl: 'http://127.0.0.1:8787',
    config: { logRetentionSeconds: 1, retentionSweepSeconds: 1 },
  });
  await engine.start();
  await clock.advance(2_000);
  expect(removals).toBeGreaterThan(0);
  const before = removals;
  await engine.stop();
  expect(removals).toBeLessThanOrEqual(before + 1);
});
