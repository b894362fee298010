import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { identify, isAlive } from '@sallyport/core/process-identity';
import { BridgeState } from './state.ts';
import { temporaryFolder } from './testing/bench.ts';

test('what one bridge saved, the next one reads; files are for the owner alone', () => {
  const folder = temporaryFolder();
  const state = new BridgeState(folder, ['http://a', '/dir', 'name']);
  state.savePointer({ environment_id: 'env_1', worker_id: 'w', generation: 2 });
  state.saveSession({ session_id: 'session_1', work_id: 'work_1', environment_id: 'env_1' });
  const again = new BridgeState(folder, ['http://a', '/dir', 'name']);
  expect(again.pointer).toEqual({ environment_id: 'env_1', worker_id: 'w', generation: 2 });
  expect(again.sessions).toEqual([{ session_id: 'session_1', work_id: 'work_1', environment_id: 'env_1' }]);
  expect(new BridgeState(folder, ['http://b', '/dir', 'name']).pointer).toBeUndefined();
  const own = join(
    folder,
    readdirSync(folder).find((key) => readdirSync(join(folder, key)).length > 1)!,
  );
  expect(statSync(own).mode & 0o777).toBe(0o700);
  expect(statSync(join(own, 'pointer.json')).mode & 0o777).toBe(0o600);
  again.removeSession('session_1');
  expect(state.sessions).toEqual([]);
});

test('a torn file counts as none', () => {
  const folder = temporaryFolder();
  const state = new BridgeState(folder, ['x']);
  const own = join(folder, readdirSync(folder)[0]!);
  writeFileSync(join(own, 'pointer.json'), '{"environment_id":');
  writeFileSync(join(own, 'sessions', 'a.json'), '{}');
  expect(state.pointer).toBeUndefined();
  expect(state.sessions).toEqual([]);
});

test('a process is known by more than its pid', () => {
  const own = identify(process.pid)!;
  expect(isAlive(own)).toBe(true);
  expect(isAlive({ ...own, boot_id: 'another' })).toBe(false);
  expect(identify(2 ** 30)).toBeUndefined();
});

test('files that cannot be written are said to be, with the folder and what to do', () => {
  const file = join(temporaryFolder(), 'a-file');
  writeFileSync(file, '');
  expect(() => new BridgeState(file, ['x'])).toThrow(
    expect.objectContaining({
      code: 'state_failed',
      message: expect.stringMatching(
        /^The bridge's files in .*a-file.* cannot be written: .*; make /,
      ) as string,
    }),
  );
});
