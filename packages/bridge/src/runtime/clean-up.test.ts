import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { killLeftovers } from './clean-up.ts';
import { identify } from './process-identity.ts';
import { markVariables } from './process-tree.ts';
import { BridgeState } from './state.ts';
import { temporaryFolder } from './testing/bench.ts';
import { workOf } from './testing/fake-service.ts';
import { useBench } from './testing/use-bench.ts';

const { service, start, startSession } = useBench();

describe('processes of an earlier bridge', () => {
  const record = { session_id: 'session_l', work_id: `work_${process.pid}`, environment_id: 'env_1' };

  test.skipIf(process.platform !== 'linux')(
    'are ended by their mark where no pid was written yet',
    async () => {
      const state = new BridgeState(temporaryFolder(), ['x']);
      state.saveSession(record);
      const mark = { sessionId: record.session_id, workId: record.work_id };
      const left = spawn('sleep', ['1000'], {
        detached: true,
        env: { ...process.env, ...markVariables(mark) },
      });
      const innocent = spawn('sleep', ['1000'], {
        detached: true,
        env: { ...process.env, ...markVariables({ ...mark, workId: 'work_other' }) },
      });
      const [ended] = await Promise.all([once(left, 'exit'), killLeftovers(state)]);
      expect(ended).toEqual([null, 'SIGKILL']);
      expect(innocent.exitCode).toBeNull();
      expect(innocent.kill()).toBe(true);
      // The service is yet to be told.
      expect(state.sessions).toEqual([record]);
    },
  );

  test('are ended by who they are, with their whole group', async () => {
    const state = new BridgeState(temporaryFolder(), ['x']);
    const left = spawn('sh', ['-c', 'sleep 1000 & wait'], {
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = Promise.all([once(left, 'exit'), once(left.stdout, 'close')]); // the pipe is the group's
    state.saveSession({ ...record, process: identify(left.pid!)! });
    left.stdout.resume();
    await killLeftovers(state);
    expect((await ended)[0]).toEqual([null, 'SIGKILL']);
  });
});

describe('work of an earlier bridge', () => {
  const folders = () => ({ stateDir: temporaryFolder(), directory: temporaryFolder() });
  const stateOf = ({ stateDir, directory }: ReturnType<typeof folders>) =>
    new BridgeState(stateDir, [service.url, directory, 'bench']);

  test('that was killed is stopped by the next one, before it asks for any', async () => {
    const where = folders();
    const { bench } = await startSession('echo up; sleep 1000', where);
    await bench.until('session.output');
    bench.runtime.kill();
    expect(await bench.result).toMatchObject({ killed: true });
    expect(stateOf(where).sessions).toMatchObject([
      { session_id: 'session_a', work_id: workOf('session_a') },
    ]);

    const before = service.calls.all.length;
    const next = start({ run: 'true', ...where });
    await next.until('polling');
    expect(service.calls.all.slice(before, before + 3).map(({ route }) => route)).toEqual([
      'register',
      'stop',
      'poll',
    ]);
    expect((await service.called('stop')).body).toEqual({ force: true });
    expect(stateOf(where).sessions).toEqual([]);
  });

  test.each([
    ['gone', { status: 404, body: { error: 'not_found' } }, 0],
    ['not answered for', { status: 403, body: { error: 'forbidden' } }, 1],
  ])('that is %s holds up nothing', async (_, answer, left) => {
    const where = folders();
    stateOf(where).saveSession({ session_id: 'session_o', work_id: 'work_o', environment_id: 'env_1' });
    service.script('stop', answer);
    await start({ run: 'true', ...where }).until('polling');
    expect(stateOf(where).sessions).toHaveLength(left);
  });
});
