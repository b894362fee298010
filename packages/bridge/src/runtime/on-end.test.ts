import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { temporaryFolder } from './testing/bench.ts';
import { workOf } from './testing/fake-service.ts';
import { useBench } from './testing/use-bench.ts';

const { start, startSession } = useBench();

const told =
  'echo "$SALLYPORT_SESSION_ID $SALLYPORT_WORK_ID $SALLYPORT_ENVIRONMENT_ID $SALLYPORT_REASON $SALLYPORT_EXIT_CODE$SALLYPORT_SIGNAL"; pwd';

test.each([
  ['exit 3', 'exited 3'],
  ['kill -9 $$', 'exited SIGKILL'],
])('a hook is told how the session ended (%s), and runs where it ran', async (run, end) => {
  const directory = temporaryFolder();
  const { bench } = await startSession(run, { directory, onEnd: told });
  expect(await bench.until('session.hook_ended')).toMatchObject({
    exitCode: 0,
    output: `session_a ${workOf('session_a')} env_1 ${end}\n${directory}`,
  });
  await bench.until('session.ended');
});

test('a hook sees no secret that the command does not see', async () => {
  const environment = { ...process.env, MY_TOKEN: 't', OTHER_TOKEN: 'o' };
  const { bench } = await startSession('true', {
    environment,
    envPass: ['OTHER_TOKEN'],
    onEnd: 'echo "$MY_TOKEN-$OTHER_TOKEN"; exit 9',
  });
  expect(await bench.until('session.hook_ended')).toMatchObject({ exitCode: 9, output: '-o' });
});

test('a hook that does not end is killed with its tree after a minute, and the slot is free', async () => {
  const clock = new ManualClock();
  const { bench } = await startSession('true', { clock, onEnd: 'sleep 1000 & sleep 1000' });
  await bench.until('session.started');
  while (bench.of('session.hook_ended').length === 0) {
    await clock.advance(10_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(bench.of('session.hook_ended')).toMatchObject([{ exitCode: null, signal: 'SIGKILL' }]);
  await bench.until('session.ended');
});

test('without a process there is no hook', async () => {
  const bench = start({ run: 'true', onEnd: told, once: true });
  await bench.until('polling');
  await bench.stop();
  expect(bench.of('session.hook_ended')).toEqual([]);
});
