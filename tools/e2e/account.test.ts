import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { binDir, type RunOptions } from './installation.ts';
import { inEachTopology } from './steps/in-each-topology.ts';

inEachTopology((the) => {
  async function run(line: string, exitCode = 0, options: RunOptions = {}) {
    const program = the.installation.sallyport(line.split(' '), options);
    expect(await program.end(), program.screen).toBe(exitCode);
    return program;
  }
  const json = async <T>(line: string) => JSON.parse((await run(`${line} --json`)).stdout) as T;

  test('a script takes a token, and any HTTP client is let in with it', async () => {
    const { stdout, stderr } = await run('token');
    expect(stderr).toBe('');
    const authorization = `Bearer ${stdout.trim()}`;
    const answer = await fetch(`${the.installation.baseUrl}/api/oauth/profile`, {
      headers: { authorization },
    });
    expect(await answer.json()).toMatchObject({ account: { email: 'owner@localhost' } });
    const { expires_at } = await json<{ expires_at: string }>('token');
    expect(Date.parse(expires_at)).toBeGreaterThan(Date.now());
  });

  test('a key is a login of its own until it is revoked, and has no more than was asked for', async () => {
    const { stdout } = await run('keys create --name ci --scope profile --expires 30d');
    const env = { SALLYPORT_TOKEN: stdout.trim() };
    const scoped = await run('whoami', 0, { env });
    expect(scoped.stdout).toMatch(/^owner@localhost .*\nThe login is in SALLYPORT_TOKEN\.\n$/);
    await run('roles', 3, { env });
    const [key] = await json<{ id: string; name: string; expires_at: string }[]>('keys list');
    expect(key).toMatchObject({ name: 'ci', scope: 'profile' });
    expect(Date.parse(key?.expires_at ?? '') - Date.now()).toBeGreaterThan(29 * 86_400_000);
    await run(`keys revoke ${key?.id ?? ''} --yes`);
    await run('whoami', 3, { env });
    await run('keys revoke nothing --yes', 4);
  });

  test('this machine is trusted until it is revoked', async () => {
    await run('device trust');
    const [device] = await json<{ id: string; display_name: string }[]>('device list');
    expect(device?.display_name).toBe(hostname());
    await run(`device revoke ${device?.id ?? ''} --yes`);
    expect(await json('device list')).toEqual([]);
  });

  test('what the account may do, and for whom', async () => {
    expect(await json('access')).toMatchObject({ access_level: 'admin' });
    const roles = await json<{ name: string }[]>('roles');
    expect(roles.map(({ name }) => name).sort()).toEqual(['admin', 'member', 'viewer']);
    expect((await run('settings')).stdout).toMatch(/no managed settings/);
    const [organization] = await json<{ uuid: string; in_use: boolean }[]>('org list');
    expect(organization?.in_use).toBe(true);
    await run(`org use ${organization?.uuid ?? ''}`);
    expect((await run('config get organization')).stdout.trim()).toBe(organization?.uuid);
    await run('org use 0b6f7a52-8d5e-4b5e-9d3f-5c1f0e2a7b11', 3);
  });
  test('a login is for one organization: another one is used after a login for it, and by its name', async () => {
    const admin = async (...args: string[]) => {
      const program = the.installation.run(join(binDir, 'sallyport-gateway'), ['admin', ...args]);
      expect(await program.end(), program.screen).toBe(0);
      return program.stdout;
    };
    const { id } = JSON.parse(await admin('org', 'add', 'Second')) as { id: string };
    await admin('user', 'role', 'owner@localhost', 'admin', '--org', 'second');
    await run('org use second', 3);
    await run('env list --online');
    await run('env list --online', 3, { env: { SALLYPORT_ORG: 'Second' } });
    const input = await admin('session-key');
    await run('login --session-key-stdin --org second', 0, { input });
    expect(await json('access')).toMatchObject({ organization: id, access_level: 'admin' });
    expect(await json('env list --online')).toEqual([]);
    await run('login --session-key-stdin --org Default', 0, { input });
    expect(await json('access')).not.toMatchObject({ organization: id });
  });
});
