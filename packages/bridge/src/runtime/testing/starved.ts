import { execFileSync } from 'node:child_process';

/** For `starved`: takes all file descriptors that are left. */
export const exhaust = `
  const { openSync } = await import('node:fs');
  try { for (;;) openSync('/dev/null'); } catch {}`;

/** Runs a module in a program that may have few file descriptors; gives what it prints, which is JSON. */
export function starved(module: string): unknown {
  const args = ['-C', '@sallyport/source', '--input-type=module', '-e', module];
  const output = execFileSync('sh', ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, ...args], {
    cwd: import.meta.dirname,
    encoding: 'utf8',
  });
  return JSON.parse(output);
}
