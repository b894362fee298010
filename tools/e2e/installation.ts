import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { freePort } from '@sallyport/core/testing';
import { Program } from './process.ts';
import { straight, type GatewayName, type Topology } from './topologies.ts';

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
  readonly topology: Topology;
  /** Where clients go. */
  baseUrl = '';
  readonly #gateways = new Map<GatewayName, Program>();
  /** Those that the first start got, so that a restart is found again. */
  readonly #ports = new Map<GatewayName, string>();

  constructor(topology = straight) {
    this.topology = topology;
  }

  get env(): NodeJS.ProcessEnv {
    const { PATH, HOME, LANG } = process.env;
    return {
      PATH: `${binDir}:${PATH ?? ''}`,
      HOME,
      LANG,
      SALLYPORT_DATA_DIR: join(this.folder, 'data'),
      SALLYPORT_CONFIG_DIR: join(this.folder, 'config'),
      SALLYPORT_PORT: this.portOf('gateway'),
      ...(this.baseUrl !== '' && {
        SALLYPORT_BASE_URL: this.baseUrl,
        // The one that serves goes by the address of the one in front.
        ...(this.topology !== straight && { SALLYPORT_PUBLIC_URL: this.baseUrl }),
      }),
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

  /** Starts the gateway, and before it the one in front if there is to be one; gives the one that serves once it listens. */
  async gateway(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Program> {
    for (const name of this.topology.gateways.slice(1)) if (!this.#gateways.has(name)) await this.start(name);
    return this.start('gateway', args, env);
  }

  /** Starts one of the topology's gateways, where it was before if it was. */
  async start(
    name: GatewayName,
    args: readonly string[] = [],
    env: NodeJS.ProcessEnv = {},
  ): Promise<Program> {
    const front = name !== 'gateway' && {
      SALLYPORT_UPSTREAM: await this.upstream(),
      SALLYPORT_DATA_DIR: join(this.folder, 'front'),
    };
    const program = this.run(join(binDir, 'sallyport-gateway'), ['start', ...args], {
      env: { SALLYPORT_PORT: this.portOf(name), ...front, ...env },
    });
    const [, url = ''] = await program.shows(/^listening on (http:\S+)$/m);
    this.#gateways.set(name, program);
    this.#ports.set(name, new URL(url).port);
    if (name === this.topology.gateways.at(-1)) this.baseUrl = url;
    return program;
  }

  async kill(name: GatewayName): Promise<void> {
    await this.#gateways.get(name)?.stop('SIGKILL');
  }

  /** 0: any. */
  protected portOf(name: GatewayName): string {
    return this.#ports.get(name) ?? '0';
  }

  /** Where the one in front passes on to. */
  protected async upstream(): Promise<string> {
    if (!this.#ports.has('gateway')) this.#ports.set('gateway', String(await freePort()));
    return `http://127.0.0.1:${this.portOf('gateway')}`;
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
