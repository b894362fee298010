import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Program } from './process.ts';
import { inEachTopology } from './steps/in-each-topology.ts';

inEachTopology((the) => {
  async function sallyport(...args: string[]) {
    const program = the.installation.sallyport(args);
    const code = await program.end();
    return { code, stdout: program.stdout, stderr: program.stderr };
  }

  /** A bridge in a directory of its own. */
  async function bridge(
    name: string,
    command = 'cat',
  ): Promise<{ program: Program; dir: string; id: string }> {
    const dir = join(the.installation.folder, name);
    mkdirSync(dir, { recursive: true });
    const program = the.installation.sallyport(['bridge', 'run', '--dir', dir, '--exec', command]);
    const [, id = ''] = await program.shows(/environment (env_\w+)/i);
    await program.shows(/Waiting for work/);
    return { program, dir, id };
  }

  async function status(dir: string): Promise<Record<string, unknown>[]> {
    const { code, stdout, stderr } = await sallyport('--json', 'bridge', 'status', '--dir', dir);
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout) as Record<string, unknown>[];
  }

  test('where no bridge was run, status and stop say how to start one or see one', async () => {
    const nowhere = the.installation.folder;
    expect(await sallyport('bridge', 'status', '--dir', nowhere)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^No bridge is known in .*\n.*sallyport bridge run/) as string,
    });
    expect(await status(nowhere)).toEqual([]);
    expect(await sallyport('bridge', 'stop', '--dir', nowhere)).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringMatching(/No bridge runs in .*\n.*sallyport bridge status/) as string,
    });
    expect((await sallyport('bridge', 'stop', 'env_nope')).code).toBe(4);
    expect((await sallyport('bridge', 'unregister', '--dir', nowhere)).code).toBe(4);
    expect((await sallyport('bridge', 'unregister')).code).toBe(2);
    expect(await sallyport('bridge', 'unregister', 'env_nope')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('sallyport bridge status') as string,
    });
  });

  test('a bridge is shown with its sessions, stopped by its directory, and taken up again', async () => {
    const { program, dir, id } = await bridge('one', 'echo started; while [ ! -e go ]; do sleep 0.05; done');
    const session = the.installation.sallyport(['session', 'run', 'look', '--env', id]);
    await session.shows(/^started$/m);
    expect(await status(dir)).toEqual([
      expect.objectContaining({
        environment_id: id,
        status: 'online',
        active_sessions: 1,
        pid: program.child.pid,
        directory: dir,
      }),
    ]);
    expect((await sallyport('bridge', 'status')).stdout).toMatch(
      new RegExp(
        `^ENVIRONMENT .*\\n${id} +online +just now +1 +- +${program.child.pid ?? ''} .* ${dir}$`,
        'm',
      ),
    );

    const second = await sallyport('bridge', 'run', '--dir', dir, '--exec', 'cat');
    expect(second.code).toBe(5);
    expect(second.stderr).toMatch(/runs already \(pid \d+\).*\n.*sallyport bridge stop/);

    expect(await sallyport('--json', 'bridge', 'stop', '--dir', dir)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`"environment_id":"${id}"`) as string,
      stderr: expect.stringContaining('Stopping the bridge') as string,
    });
    expect(await program.end()).toBe(0);
    await session.end();
    expect(await status(dir)).toMatchObject([{ environment_id: id, pid: null, active_sessions: 0 }]);

    const again = await bridge('one');
    expect(again.id).toBe(id);
    expect((await sallyport('bridge', 'stop', id)).stdout).toBe(`The bridge in ${dir} has ended.\n`);
    expect(await again.program.end()).toBe(0);
  });

  test('an unregistered environment is gone at the service and here; its bridge ends', async () => {
    const { program, dir, id } = await bridge('two');
    expect(await sallyport('bridge', 'unregister', '--dir', dir)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes') as string,
    });
    expect(await sallyport('bridge', 'unregister', '--dir', dir, '--yes')).toMatchObject({
      code: 0,
      stdout: `Environment ${id} is removed.\n`,
    });
    expect(await program.end()).toBe(0);
    expect(await status(dir)).toEqual([]);
    expect((await sallyport('bridge', 'unregister', id)).code).toBe(4);
    const next = await bridge('two');
    expect(next.id).not.toBe(id);
    await next.program.stop('SIGINT');
  });

  test('an environment that was deleted while its bridge was down does not come back', async () => {
    const { program, dir, id } = await bridge('deleted');
    await program.stop('SIGINT');
    expect(await sallyport('env', 'delete', id, '--yes')).toMatchObject({ code: 0 });
    const next = await bridge('deleted');
    expect(next.id).not.toBe(id);
    expect(next.program.screen).toContain(`The service does not have ${id}`);
    expect(await status(dir)).toMatchObject([{ environment_id: next.id, status: 'online' }]);
    expect((await sallyport('env', 'get', id)).code).toBe(4);
    await next.program.stop('SIGINT');
  });

  test('a second signal kills the sessions, and the gateway knows at once', async () => {
    const { program, dir, id } = await bridge('four', `trap '' INT TERM; echo up; while :; do sleep 1; done`);
    const run = await sallyport('--json', 'session', 'run', 'hello', '--env', id, '--detach');
    const session = (JSON.parse(run.stdout) as { id: string }).id;
    await program.shows(/Session .* started/);
    program.signal('SIGINT');
    await program.shows(/press Ctrl-C again/);
    // The same one at once would be an echo.
    expect(await program.stop('SIGTERM'), program.screen).toBe(130);
    expect(await status(dir)).toMatchObject([{ status: 'offline', active_sessions: 0, pid: null }]);
    const shown = await sallyport('--json', 'session', 'show', session);
    expect(JSON.parse(shown.stdout)).not.toMatchObject({ status: 'running' });
  });

  test('an environment that was removed elsewhere is forgotten here', async () => {
    const { program, dir, id } = await bridge('three');
    await program.stop('SIGINT');
    const elsewhere = join(the.installation.folder, 'elsewhere');
    cpSync(join(the.installation.folder, 'config'), elsewhere, { recursive: true });
    const removal = the.installation.sallyport(['bridge', 'unregister', id], {
      env: { SALLYPORT_CONFIG_DIR: elsewhere },
    });
    expect(await removal.end(), removal.screen).toBe(0);
    expect(await status(dir)).toMatchObject([{ environment_id: id, status: 'unregistered' }]);
    expect(await sallyport('bridge', 'unregister', '--dir', dir)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('was removed before') as string,
    });
    expect(await status(dir)).toEqual([]);
  });

  test('a gateway without a login names the ones with', async () => {
    for (const command of [['whoami'], ['logout']]) {
      const { stdout, stderr } = await sallyport(...command, '--base-url', 'http://127.0.0.1:1');
      expect(stdout + stderr).toContain(`There is a login for ${the.installation.baseUrl}`);
    }
  });
});
