import { join } from 'node:path';
import { systemClock, type Clock } from '@sallyport/core';
import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, test, vi } from 'vitest';
import type { Execution } from './executor.ts';
import { shellExecutor } from './process.ts';
import { temporaryFolder } from './testing/bench.ts';
import { openLivingPipe } from './testing/living-pipe.ts';
import { Recorder } from './testing/recorder.ts';
import { exhaust, starved } from './testing/starved.ts';

interface Output {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

let count = 0;

function execute(
  command: string,
  { clock = systemClock, directory = temporaryFolder() }: { clock?: Clock; directory?: string } = {},
) {
  const output = new Recorder<Output>();
  const environment = { inherited: process.env, pass: [] };
  const execution: Execution = shellExecutor({ command, environment, clock })({
    sessionId: `session_${process.pid}_${(count += 1)}`,
    workId: 'work_1',
    environmentId: 'env_1',
    directory,
    emit: (type, data) => output.add({ type, data }),
  });
  const says = (text: string) => output.until(({ data }) => data['text'] === text);
  return { execution, output, says };
}

/** Begins and kills a session in a program that takes all file descriptors `before` or `after` it begins; gives what came of it. */
function withoutDescriptors(session: {
  readonly command: string;
  readonly before: string;
  readonly after: string;
}): unknown {
  return starved(`
    import { systemClock } from '@sallyport/core';
    import { shellExecutor } from ${JSON.stringify(join(import.meta.dirname, 'process.ts'))};
    const job = { sessionId: 's' + process.pid, workId: 'w', environmentId: 'e', directory: '/', emit: (type, data) => said.push(data.text) };
    const said = [];
    const environment = { inherited: {}, pass: [] };
    const execute = shellExecutor({ command: ${JSON.stringify(session.command)}, environment, clock: systemClock });
    ${session.before}
    const execution = execute(job);
    ${session.after}
    execution.signal('SIGKILL');
    console.log(JSON.stringify([await execution.ended, said]));`);
}

describe('the process of a session', () => {
  test('runs in its directory, with its variables, and gives its exit code', async () => {
    const directory = temporaryFolder();
    const { execution, output } = execute('pwd; echo "$SALLYPORT_ENVIRONMENT_ID" >&2; exit 7', { directory });
    expect(await execution.ended).toEqual({ exitCode: 7, signal: null });
    expect(output.all).toContainEqual({
      type: 'session.output',
      data: { stream: 'stdout', text: directory },
    });
    expect(output.all).toContainEqual({ type: 'session.output', data: { stream: 'stderr', text: 'env_1' } });
  });

  test('is signalled no more when it has ended: by then its pid may be of others', async () => {
    const { execution } = execute('true');
    await execution.ended;
    const kill = vi.spyOn(process, 'kill');
    try {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) execution.signal(signal);
      expect(kill).not.toHaveBeenCalled();
    } finally {
      kill.mockRestore();
    }
  });

  test('that has no directory says so, and is an exit', async () => {
    const { execution, output } = execute('true', { directory: '/nowhere' });
    expect(await execution.ended).toEqual({ exitCode: 127, signal: null });
    expect(output.all.map(({ data }) => data['text'])).toEqual([
      'cannot start: there is no directory /nowhere',
    ]);
  });

  test('that cannot be started for want of file descriptors is an exit, not the end of the bridge', () => {
    const ended = withoutDescriptors({ command: 'true', before: exhaust, after: '' });
    expect(ended).toEqual([
      { exitCode: 127, signal: null },
      [expect.stringMatching(/^cannot start: .*: too many open files$/) as string],
    ]);
  });

  test('is killed where nobody can be looked for, for want of file descriptors', () => {
    const ended = withoutDescriptors({ command: 'exec sleep 1000', before: '', after: exhaust });
    expect(ended).toEqual([{ exitCode: null, signal: 'SIGKILL' }, []]);
  });

  test('does not see the lifeline, and does not wait for its watcher', async () => {
    const command = '[ -e /proc/$$/fd/3 ] && echo open; wait; ps -o comm= --ppid $$';
    const { execution, output } = execute(command);
    await execution.ended;
    expect(output.all.map(({ data }) => data['text'])).toEqual(['ps']);
  });

  test('that cannot be started ends with 127 and says why', async () => {
    const { execution, output } = execute('true', { directory: '/nowhere' });
    expect(await execution.ended).toEqual({ exitCode: 127, signal: null });
    expect(output.all).toMatchObject([
      { data: { stream: 'stderr', text: expect.stringMatching(/cannot start/) as string } },
    ]);
  });

  test('gets signals as a group', async () => {
    const { execution, says } = execute(
      `trap 'echo int' INT; trap 'echo term; exit 0' TERM; echo ready; while :; do sleep 1000 >/dev/null 2>&1 & wait $!; done`,
    );
    await says('ready');
    execution.signal('SIGINT');
    await says('int');
    execution.signal('SIGTERM');
    await says('term');
    expect(await execution.ended).toEqual({ exitCode: 0, signal: null });
  });

  test('takes all of its tree with it when killed, those that left its group, too', async () => {
    const { path, allGone } = openLivingPipe();
    const { execution, says } = execute(
      `exec 9>${path}; setsid sh -c 'sh -c "echo away; sleep 1000" & wait' & sleep 1000 & echo here; wait`,
    );
    await Promise.all([says('here'), says('away')]);
    execution.signal('SIGKILL');
    expect(await execution.ended).toEqual({ exitCode: null, signal: 'SIGKILL' });
    await allGone;
  });

  test('takes what it started with it when it ends by itself', async () => {
    const { path, allGone } = openLivingPipe();
    const { execution } = execute(`exec 9>${path}; sleep 1000 >&- 2>&- & exit 0`);
    expect(await execution.ended).toEqual({ exitCode: 0, signal: null });
    await allGone;
  });

  test('is not held up by who keeps its pipes open, once it has ended', async () => {
    const clock = new ManualClock();
    const { execution, says } = execute('sleep 1000 & echo done', { clock });
    await says('done');
    while (clock.timers === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(2_000);
    expect(await execution.ended).toEqual({ exitCode: 0, signal: null });
  });

  test('waits while its output is not read, and loses none of it', async () => {
    const { execution, output } = execute(`seq 1 30000`);
    execution.pause();
    execution.resume();
    await output.until(({ data }) => data['text'] === '100');
    execution.pause();
    const before = output.all.length;
    await new Promise((resolve) => setImmediate(resolve));
    expect(output.all.length).toBe(before);
    execution.resume();
    await execution.ended;
    expect(output.all.map(({ data }) => Number(data['text']))).toEqual(
      Array.from({ length: 30_000 }, (_, index) => index + 1),
    );
  });
});
