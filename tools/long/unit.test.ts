import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Installation } from '../e2e/installation.ts';
import { canRunUserManager, UserManager } from '../e2e/steps/user-manager.ts';

/** Says that it runs, and ends when it is asked to. */
const patient = `trap 'echo asked; exit 3' INT; echo "it's on"; while :; do sleep 1000 >&- 2>&- & wait; done`;

test.skipIf(!canRunUserManager)(
  'systemd starts an installed bridge, and anew when it is killed, and stops it gracefully',
  async () => {
    await using installation = new Installation();
    await installation.gateway();
    await installation.login();
    await using manager = await UserManager.start(installation);
    const dir = join(installation.folder, 'a %h "work" $folder');
    mkdirSync(dir);
    const bridge = async (...args: string[]) => {
      const command = installation.sallyport(['--json', 'bridge', ...args, '--dir', dir], manager);
      expect(await command.end(), command.screen).toBe(0);
      return JSON.parse(command.stdout) as { unit: string };
    };
    const { unit } = await bridge('install', '--exec', patient);
    await manager.systemctl('daemon-reload');
    await manager.systemctl('enable', '--now', unit);
    expect(await manager.systemctl('is-enabled', unit)).toBe('enabled');

    const id = await until(async () => (await online())[0]?.environment_id);
    const killed = installation.sallyport(['session', 'run', 'look', '--env', id]);
    await killed.shows(/^it's on$/m);
    await manager.systemctl('kill', '--kill-whom', 'main', '--signal', 'KILL', unit);
    expect(await killed.end(), killed.screen).toBe(1);
    expect(killed.stderr).toContain('its bridge was killed');

    const stopped = installation.sallyport(['session', 'run', 'look', '--env', id]);
    await stopped.shows(/^it's on$/m);
    await manager.systemctl('stop', unit);
    expect(await stopped.end(), stopped.screen).toBe(1);
    expect(stopped.stdout).toContain('asked\n');
    expect(await manager.systemctl('show', '--property', 'ActiveState,Result,NRestarts', unit)).toBe(
      'Result=success\nNRestarts=1\nActiveState=inactive',
    );
    expect(await online()).toEqual([]);

    await bridge('uninstall');
    await manager.systemctl('daemon-reload');
    expect(await manager.systemctl('is-enabled', unit)).not.toBe('enabled');

    async function online() {
      const list = installation.sallyport(['--json', 'env', 'list', '--online']);
      await list.end();
      return JSON.parse(list.stdout) as { environment_id: string }[];
    }
  },
  120_000,
);

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
  }
}
