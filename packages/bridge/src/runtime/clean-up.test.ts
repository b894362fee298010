import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { identify } from '@sallyport/core/process-identity';
import { killLeftovers } from './clean-up.ts';
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
    bench.runtime.kill(); // without a word to the service
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
    expect((await service.called('stop')).body).toEqual({ force: true, reason: 'bridge_killed' });
    expect(stateOf(where).sessions).toEqual([]);
  });

  test.each([
    ['gone', { status: 404, body: { error: 'not_found' } }, 0],
    ['not answered for', { status: 403, body: { error: 'forbidden' } }, 1],
  ])('that is %s holds up nothing', async (_, answer, left) => {
    const where = folders();
    stateOf(where).saveSession({
      session_id: 'session_o',
      work_id: 'work_o',
      environment_id: 'env_1',
      must_end: true,
    });
    service.script('stop', answer);
    await start({ run: 'true', ...where }).until('polling');
    expect(stateOf(where).sessions).toHaveLength(left);
  });
});

describe('work that an earlier bridge took and never began', () => {
  const left = { session_id: 'session_u', work_id: 'work_u', environment_id: 'env_1' };
  const leave = () => {
    const [stateDir, directory] = [temporaryFolder(), temporaryFolder()];
    const state = new BridgeState(stateDir, [service.url, directory, 'bench']);
    state.saveSession(left);
    return { stateDir, directory, state };
  };

  test('is noted down before it is acknowledged, and no more when it is not ours', async () => {
    const { state, ...where } = leave();
    state.removeSession(left.session_id);
    const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>();
    service.script('ack', { after: answered, status: 409, body: { error: 'ack_already_processed' } });
    service.grantSession('session_a');
    const bench = start({ run: 'true', ...where });
    await service.called('ack');
    const record = { session_id: 'session_a', work_id: workOf('session_a'), environment_id: 'env_1' };
    expect(state.sessions).toEqual([record]);
    answer(undefined);
    await bench.until('work.skipped');
    expect(state.sessions).toEqual([]);
  });

  test('is handed back, before any is asked for, however often that fails', async () => {
    const { state, ...where } = leave();
    service.script('reconnect', { status: 503, body: { error: 'store_unavailable' } }, { reset: true });
    await start({ run: 'true', ...where }).until('polling');
    expect((await service.called('reconnect', 3)).body).toEqual({ session_id: left.session_id });
    const routes = service.calls.all.map(({ route }) => route);
    expect(routes.slice(0, 5)).toEqual(['register', 'reconnect', 'reconnect', 'reconnect', 'poll']);
    expect(state.sessions).toEqual([]);
  });

  test.each([
    ['unknown', { status: 404, body: { error: 'not_found' } }, 0],
    ["another live worker's", { status: 409, body: { error: 'session_active' } }, 0],
    ['not answered for', { status: 403, body: { error: 'forbidden' } }, 1],
  ])('and that is %s holds up nothing', async (_, answer, kept) => {
    const { state, ...where } = leave();
    service.script('reconnect', answer);
    await start({ run: 'true', ...where }).until('polling');
    expect(state.sessions).toHaveLength(kept);
  });
});
