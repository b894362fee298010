import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

/** A program that says where it listens. */
export interface Victim {
  readonly url: string;
  readonly pid: number;
  /** What it says next, in a line. */
  readonly nextLine: () => Promise<string>;
  /** With SIGKILL. */
  readonly kill: () => Promise<void>;
}

/** Starts the program of that path; it goes with the test. */
export async function startProgram(program: string, ...options: readonly string[]): Promise<Victim> {
  const child = spawn(process.execPath, ['-C', '@sallyport/source', program, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  const lines = createInterface(child.stdout);
  const nextLine = async () => ((await once(lines, 'line')) as [string])[0];
  return { url: await nextLine(), pid: child.pid ?? 0, nextLine, kill };
}
