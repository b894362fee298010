import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const main = join(import.meta.dirname, '../../src/main.ts');

/** `ulimit -f` is in blocks of so many bytes (POSIX). */
const blockBytes = 512;

/**
 * A gateway as it is run, in a process of its own, so that it shares nothing with its upstream. `fileBytes`: no file that it
 * writes may grow longer, as on a disk that is full.
 */
export async function startFront(
  flags: Readonly<Record<string, string>>,
  { fileBytes }: { readonly fileBytes?: number } = {},
) {
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const { PATH } = process.env;
  const command = [process.execPath, '-C', '@sallyport/source', main, 'start', ...args];
  const limit = fileBytes === undefined ? 'unlimited' : String(fileBytes / blockBytes);
  const child = spawn('sh', ['-c', `ulimit -S -f ${limit}; exec "$@"`, 'sh', ...command], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH, HOME: flags['data-dir'] },
  });
  const exited = once(child, 'exit');
  const ended = exited.then(() => Promise.reject(new Error('The gateway ended before it listened.')));
  ended.catch(() => undefined); // so it does in the end
  const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), ended])) as [string];
  return {
    url: line.replace('listening on ', ''),
    isAlive: () => child.exitCode === null && child.signalCode === null,
    /** From now on its files may grow. */
    giveRoom: () => void execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=unlimited:']),
    async close() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
