import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** A program of this folder in a process of its own, running from sources like the tests do. */
export function startChild(program: string, ...args: string[]) {
  const child: ChildProcessByStdio<null, Readable, null> = spawn(
    process.execPath,
    ['-C', '@sallyport/source', fileURLToPath(new URL(program, import.meta.url)), ...args],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
  return { lines: createInterface(child.stdout), kill: () => child.kill('SIGKILL'), exited };
}
