import { execFile } from 'node:child_process';
import { join } from 'node:path';

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

/** Runs the command line as a process of its own, with nothing of the caller's configuration. */
export function runCli(args: readonly string[], { cwd, env = {}, input = '' }: RunOptions): Promise<Ran> {
  const main = join(import.meta.dirname, '../main.ts');
  const command = ['-C', '@sallyport/source', main, ...args];
  const { PATH, HOME } = process.env;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      command,
      { cwd, env: { PATH, HOME, NO_COLOR: '1', SALLYPORT_CONFIG_DIR: join(cwd, 'config'), ...env } },
      (error, stdout, stderr) =>
        resolve({ exitCode: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr }),
    );
    child.stdin?.on('error', () => undefined).end(input);
  });
}
