import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { beginProcess } from './begin-process.ts';
import type { Context } from './context.ts';
import type { Execution, StopSignal } from './executor.ts';
import { BridgeState } from './state.ts';
import { temporaryFolder } from './testing/bench.ts';

test('an execution of the embedder that is ended for want of a record may fail, and ends nothing', async () => {
  const folder = join(temporaryFolder(), 'state');
  const state = new BridgeState(folder, ['x']);
  const signals: StopSignal[] = [];
  const idle = () => undefined;
  const executor = (): Execution => {
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    const ended = Promise.reject(new Error('it was killed'));
    const signal = (sent: StopSignal) => void signals.push(sent);
    return { pid: process.pid, ended, deliver: idle, endInput: idle, pause: idle, resume: idle, signal };
  };
  const begin = () =>
    beginProcess({
      context: { emit: idle } as unknown as Context,
      state,
      executor,
      record: { session_id: 'session_1', work_id: 'work_1', environment_id: 'env_1', must_end: true },
      place: { directory: '/', unknownSources: [] },
      isInteractive: true,
      emit: idle,
      report: idle,
    });
  expect(begin).toThrow();
  expect(signals).toEqual(['SIGKILL']);
  await setImmediate(); // by then a rejection that nobody handled would have been told
});
