import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Program } from './process.ts';

export const root = join(import.meta.dirname, '../..');
export const binDir = join(root, 'node_modules/.bin');

/** The PATH without what npm and its likes have put before it. */
export const foreignPath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.endsWith('node_modules/.bin'))
  .join(delimiter);

/** One gateway's data and one person's machine, in a folder of their own, driven through the built binaries. */
export class Installation {
  readonly folder = mkdtempSync(join(tmpdir(), 'sallyport-e2e-'));
  readonly programs: Program[] = [];
  baseUrl = '';

  get env(): NodeJS.ProcessEnv {
    const { PATH, HOME, LANG } = process.env;
    return {
      PATH: `${binDir}:${PATH ?? ''}`,
      HOME,
      LANG,
      SALLYPORT_DATA_DIR: join(this.folder, 'data'),
      SALLYPORT_CONFIG_DIR: join(this.folder, 'config'),
      // The port that the first start got, so that a restart is found again.
      SALLYPORT_PORT: this.baseUrl === '' ? '0' : new URL(this.baseUrl).port,
      ...(this.baseUrl !== '' && { SALLYPORT_BASE_URL: this.baseUrl }),
    };
  }

  run(
    command: string,
    args: readonly string[],
    { cwd = this.folder, input, isTyped = false, env = {} }: RunOptions = {},
  ): Program {
    const program = new Program(command, args, {
      cwd,
      env: { ...this.env, ...env },
      ...(input !== undefined && { input }),
      isTyped,
    });
    this.programs.push(program);
    return program;
  }

  sallyport(args: readonly string[], options?: RunOptions): Program {
    return this.run(join(binDir, 'sallyport'), args, options);
  }

  /** Runs a command of the shell on a terminal of its own (`script` of util-linux), at which the test types. */
  onTerminal(command: string): Program {
    const options = { isTyped: true, env: { TERM: 'xterm', SHELL: '/bin/sh' } };
    return this.run('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], options);
  }

  /** Starts the gateway and waits until it listens. */
  async gateway(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Program> {
    const program = this.run(join(binDir, 'sallyport-gateway'), ['start', ...args], { env });
    const [, url = ''] = await program.shows(/^listening on (http:\S+)$/m);
    this.baseUrl = url;
    return program;
  }

  /** Logs the owner in by a session key, as a script does. */
  async login(env: NodeJS.ProcessEnv = {}): Promise<void> {
    const key = this.run(join(binDir, 'sallyport-gateway'), ['admin', 'session-key'], { env });
    await key.end();
    const login = this.sallyport(['login', '--session-key-stdin'], { input: key.stdout, env });
    if ((await login.end()) !== 0) throw new Error(`login failed:\n${key.screen}\n${login.screen}`);
  }

  /** A git repository with `commits`, oldest first, and nothing else. */
  repository(commits: readonly string[]): string {
    const folder = mkdtempSync(join(this.folder, 'repository-'));
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], {
        cwd: folder,
      });
    git('init', '--quiet', '--initial-branch=main');
    for (const message of commits) git('commit', '--quiet', '--allow-empty', '-m', message);
    return folder;
  }

  /** Ends whatever still runs and removes the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.programs.map((program) => program.stop('SIGKILL')));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface RunOptions {
  readonly cwd?: string;
  readonly input?: string;
  /** Its input comes from the test, and has no end. */
  readonly isTyped?: boolean;
  readonly env?: NodeJS.ProcessEnv;
}
