import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { runProgram } from '../program.ts';
import { capture } from './capture.ts';

/** How a run of the command line ended. */
export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
}

/**
 * Runs the command line within the test, which is done before a process of its own would have started: for what needs no
 * stdin, no signals, and does not depend on when a process ends.
 */
export async function runHere(
  args: readonly string[],
  { cwd, env = {} }: Omit<RunOptions, 'input'>,
): Promise<Ran> {
  const { streams, text } = capture();
  const exitCode = await runProgram(args, { ...streams, env: environment(cwd, env), cwd: () => cwd });
  return { exitCode, ...text() };
}

/** Runs the command line as a process of its own, with nothing of the caller's configuration. */
export function runCli(args: readonly string[], { cwd, env = {}, input = '' }: RunOptions): Promise<Ran> {
  const main = join(import.meta.dirname, '../main.ts');
  const command = ['-C', '@sallyport/source', main, ...args];
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      command,
      { cwd, env: environment(cwd, env) },
      (error, stdout, stderr) =>
        resolve({ exitCode: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    );
    child.stdin?.on('error', () => undefined).end(input);
  });
}

function environment(cwd: string, more: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, NO_COLOR: '1', SALLYPORT_CONFIG_DIR: join(cwd, 'config'), ...more };
}
