import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { identify } from '@sallyport/core/process-identity';
import { Bench, temporaryFolder } from './testing/bench.ts';
import { FakeService, workOf } from './testing/fake-service.ts';
import { openLivingPipe } from './testing/living-pipe.ts';
import { BridgeState } from './state.ts';

const service = new FakeService();

afterEach(() => service.crash());

test('a bridge that is killed leaves no process; the next one ends the work and goes on as the same', async () => {
  await service.start();
  const stateDir = temporaryFolder();
  const { path, allGone } = openLivingPipe();
  const command = `exec 9>${path}; setsid sh -c 'sh -c "echo away; sleep 1000" & wait' & sleep 1000 & wait`;
  const script = fileURLToPath(new URL('testing/doomed-bridge.ts', import.meta.url));
  const bridge = spawn(process.execPath, ['-C', '@sallyport/source', script, service.url, stateDir, command]);
  service.grantSession('session_a');
  const stream = await service.streams.until(() => true);
  await stream.frames.until((frame) => frame.data?.['text'] === 'away');

  bridge.kill('SIGKILL');
  await once(bridge, 'exit');
  await allGone;

  // Its record, and one whose pid another process has by now.
  const state = new BridgeState(stateDir, [service.url, '/', 'doomed']);
  expect(state.sessions).toMatchObject([
    { session_id: 'session_a', process: { pid: expect.any(Number) as number } },
  ]);
  const innocent = spawn('sleep', ['1000'], { detached: true });
  const reused = { ...identify(innocent.pid!)!, start_time: '1' };
  state.saveSession({ session_id: 'session_b', work_id: 'work_b', environment_id: 'env_1', process: reused });

  service.script('register', { status: 409, body: { error: 'already_registered', environment_id: 'env_1' } });
  const next = new Bench(service, { run: 'true', stateDir, directory: '/', name: 'doomed' });
  expect(await next.until('registered')).toMatchObject({ environmentId: 'env_1', resumed: true });
  await service.called('stop', 2);
  const stops = service.calls.all.filter(({ route }) => route === 'stop');
  expect(stops.map(({ path, body }) => [path, body]).sort()).toEqual([
    ['/v1/environments/env_1/work/work_b/stop', { force: true, reason: 'bridge_killed' }],
    [`/v1/environments/env_1/work/${workOf('session_a')}/stop`, { force: true, reason: 'bridge_killed' }],
  ]);
  const registered = service.calls.all.filter(({ route }) => route === 'register');
  expect(registered[1]).toMatchObject({ body: { environment_id: 'env_1' } });
  expect(registered[1]!.headers['vendor-worker-id']).toBe(registered[0]!.headers['vendor-worker-id']);
  await next.until('polling'); // or the stop would cut the reports short
  await next.stop();
  expect(innocent.exitCode).toBeNull();
  expect(innocent.kill()).toBe(true);
  expect(state.sessions).toEqual([]);
});
