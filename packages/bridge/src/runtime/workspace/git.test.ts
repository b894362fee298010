import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, type Clock } from '@sallyport/core';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../testing/bench.ts';
import { exhaust, starved } from '../testing/starved.ts';
import { runGit, type GitCall } from './git.ts';

/** A second is a millisecond. */
const clock: Clock = { ...systemClock, after: (ms, act) => systemClock.after(ms / 1000, act) };

/** Runs a command of git's that leaves a process in a session of its own, which holds all pipes. */
function leaving(then: string, options: Partial<GitCall> = {}) {
  const directory = temporaryFolder();
  const left = join(directory, 'left');
  onTestFinished(() => void process.kill(Number(readFileSync(left, 'utf8')), 'SIGKILL'));
  // It says its pid itself: before it has its session, it would end with git's processes.
  const leaves = "setsid sh -c 'echo $$ > new; mv new left; exec sleep 1000' &";
  const script = `!${leaves} until [ -e left ]; do sleep 0.01; done; ${then}`;
  const ended = runGit(['-c', `alias.leave=${script}`, 'leave'], {
    ...{ directory, clock, timeoutMs: 1e9 },
    ...options,
  });
  return { ended, left };
}

test('what git leaves running, and holds its pipes, holds nobody up', async () => {
  expect(await leaving('echo said').ended).toBe('said\n');
});

test('nor where git fails', async () => {
  await expect(leaving('echo said >&2; exit 1').ended).rejects.toThrow(/^said$/);
});

test('nor where git is given up', async () => {
  const abort = new AbortController();
  const { ended, left } = leaving('exec sleep 1000', { signal: abort.signal });
  while (!existsSync(left)) await new Promise((resolve) => setImmediate(resolve));
  const reason = new Error('left');
  abort.abort(reason);
  await expect(ended).rejects.toBe(reason);
});

test('git that cannot be started for want of file descriptors is a failure, not the end of the bridge', () => {
  const said = starved(`
    import { systemClock } from '@sallyport/core';
    import { runGit } from ${JSON.stringify(join(import.meta.dirname, 'git.ts'))};
    ${exhaust}
    const call = { directory: '/', clock: systemClock, timeoutMs: 1000 };
    console.log(JSON.stringify(await runGit(['version'], call).catch(String)));`);
  expect(said).toMatch(/^GitError: git: too many open files/);
});
