import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation } from '../installation.ts';
import type { Program } from '../process.ts';

const systemd = ['/usr/lib/systemd/systemd', '/lib/systemd/systemd'].find((file) => existsSync(file));
const ownMounts = ['--mount', '--propagation', 'private'];
const mountGroups = 'mount -t cgroup2 cgroup2 /sys/fs/cgroup';

/** It takes systemd, and the right to mount control groups in a namespace of one's own. */
export const canRunUserManager =
  systemd !== undefined && spawnSync('unshare', [...ownMounts, 'sh', '-c', mountGroups]).status === 0;

// What a manager looks for where systemd has booted: `/run/systemd/system`, and a control group to make others in. The shell
// within is the first process of its namespace: with its input it ends, and with it all that the manager started.
const within = `read pid _ </proc/self/stat && mount -t proc proc /proc && mount -t tmpfs tmpfs /run &&
  mkdir -p /run/systemd/system && umount /sys/fs/cgroup && ${mountGroups} && echo "within $pid" &&
  { ${String(systemd)} --user & cat; }`;
const script = `${mountGroups} && group=/sys/fs/cgroup/sallyport-$$ && mkdir $group && echo $$ >$group/cgroup.procs &&
  unshare ${ownMounts.join(' ')} --cgroup --pid --fork --kill-child sh -c '${within}'
  echo $$ >/sys/fs/cgroup/cgroup.procs; find $group -depth -type d -exec rmdir {} +`;

/** A systemd user manager of an installation's own: nothing else on the machine is known to it, or knows it. */
export class UserManager {
  readonly #installation: Installation;
  readonly #program: Program;
  #pid = '';

  private constructor(installation: Installation) {
    this.#installation = installation;
    mkdirSync(this.#env.XDG_RUNTIME_DIR, { mode: 0o700 });
    const options = { env: this.#env, isTyped: true };
    this.#program = installation.run('unshare', [...ownMounts, 'sh', '-c', script], options);
  }

  static async start(installation: Installation): Promise<UserManager> {
    const manager = new UserManager(installation);
    [, manager.#pid = ''] = await manager.#program.shows(/^within (\d+)$/m);
    for (let state = ''; !/running|degraded/.test(state);)
      state = await manager.systemctl('is-system-running', '--wait');
    return manager;
  }

  get #env() {
    const { folder } = this.#installation;
    return { XDG_RUNTIME_DIR: join(folder, 'run'), XDG_CONFIG_HOME: join(folder, 'xdg') };
  }

  /** What `sallyport bridge install` finds the manager's units by. */
  get env(): NodeJS.ProcessEnv {
    return { XDG_CONFIG_HOME: this.#env.XDG_CONFIG_HOME };
  }

  /** Gives what it prints. */
  async systemctl(...args: readonly string[]): Promise<string> {
    const entered = ['-t', this.#pid, '-m', '-p', '-C', 'systemctl', '--user', ...args];
    const program = this.#installation.run('nsenter', entered, { env: this.#env });
    await program.end();
    return program.screen.trim();
  }

  /** Ends it, and whatever it started. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#program.child.stdin?.end();
    await this.#program.end();
  }
}
