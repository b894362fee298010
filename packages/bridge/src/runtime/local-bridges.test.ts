import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { localBridges } from './local-bridges.ts';
import { BridgeState } from './state.ts';
import { temporaryFolder } from './testing/bench.ts';

test('no bridge was ever run here', () => {
  expect(localBridges(join(temporaryFolder(), 'state'))).toEqual([]);
});

test('a bridge is known by its directory, runs while it has the lock, and keeps its environment', () => {
  const stateDir = temporaryFolder();
  mkdirSync(join(stateDir, 'logins'));
  writeFileSync(join(stateDir, 'logins', 'pointer.json'), '{}');
  const state = new BridgeState(stateDir, ['http://a', '/dir', 'laptop']);
  const unlock = state.lock();
  const known = { baseUrl: 'http://a', directory: '/dir', name: 'laptop' };
  expect(localBridges(stateDir)).toMatchObject([
    { ...known, environmentId: undefined, pid: process.pid, sessionIds: [] },
  ]);
  state.savePointer({ environment_id: 'env_1', worker_id: 'w', generation: 1 });
  state.saveSession({ session_id: 'session_1', work_id: 'work_1', environment_id: 'env_1', must_end: true });
  state.saveSession({ session_id: 'session_2', work_id: 'work_2', environment_id: 'env_1' });
  // Looking does not take the lock away.
  expect(() => new BridgeState(stateDir, ['http://a', '/dir', 'laptop']).lock()).toThrow('runs already');
  unlock();
  const [bridge] = localBridges(stateDir);
  expect(bridge).toMatchObject({
    ...known,
    environmentId: 'env_1',
    pid: undefined,
    sessionIds: ['session_1'],
  });
  bridge?.forget();
  expect(localBridges(stateDir)).toMatchObject([{ ...known, environmentId: undefined }]);
});
