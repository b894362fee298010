import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Installation, root } from './installation.ts';

/** The commands of the page's `sh` blocks, in its order. */
const page = readFileSync(join(root, 'docs/administration.md'), 'utf8');
const commands = [...page.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
);

test('an admin and an operator do what docs/administration.md says', { timeout: 120_000 }, async () => {
  await using installation = new Installation();
  await installation.gateway();
  await installation.login();
  const printed: Record<string, string> = {};
  for (const command of commands) {
    const program = installation.run('sh', ['-euc', command]);
    expect(await program.end(), `${command}\n${program.screen}`).toBe(0);
    printed[command] = program.stdout;
  }
  const of = (command: string) => printed[command];
  expect(of('sallyport admin people add ann@example.com --role member')).toMatch(
    /^ann@example.com is a member with the role member\.\n.*\nhttp:\S+\/setup\?\S+$/m,
  );
  expect(of('sallyport admin people list')).toMatch(/^owner@localhost +admin .*\nann@example.com +member/m);
  expect(of('sallyport admin audit --since 7d')).toMatch(/ membership\.set|account\.add /);
  expect(of('sallyport settings')).toMatch(/^autoUpdates +false$/m);
  expect(readFileSync(join(installation.folder, 'ann.json'), 'utf8')).toContain('"email":"ann@example.com"');
  const bridge = installation.sallyport(['bridge', 'run', '--exec', 'cat']);
  await bridge.shows(/Waiting for work/);
  const terminal = installation.onTerminal('sallyport admin people remove owner@localhost');
  await terminal.shows(
    /These bridges end, too[^]*\n {2}env_\w+ .* owner@localhost\r\n[^]*Remove owner@localhost .*\[y\/N\]/,
  );
  terminal.type('n\r');
  await terminal.shows(/Nothing was done\./);
  expect(JSON.parse(of('sallyport-gateway admin user erase ann@example.com --yes') ?? '')).toMatchObject({
    email: 'ann@example.com',
  });
});

test(
  'an admin and an operator let in whom wrong passwords have locked out',
  { timeout: 120_000 },
  async () => {
    await using installation = new Installation();
    await installation.gateway(['--set', 'oauth.failures.passwords=2']);
    await installation.login();
    const password = 'correct horse battery';
    const ends = async (command: string, input = '') => {
      const program = installation.run('sh', ['-euc', command], { input });
      expect(await program.end(), program.screen).toBe(0);
      return program.stdout;
    };
    await ends('sallyport admin people add ann@example.com');
    await ends('sallyport-gateway admin user password ann@example.com --password-stdin', password);

    const signIn = async (given: string) => {
      const login = `${installation.baseUrl}/login`;
      const page = await fetch(login);
      const proof = /name="proof" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
      const { status } = await fetch(login, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: page.headers.get('set-cookie')?.split(';', 1).join() ?? '' },
        body: new URLSearchParams({ proof, email: 'ann@example.com', password: given }),
      });
      return status;
    };
    for (const program of ['sallyport admin people', 'sallyport-gateway admin user']) {
      expect([await signIn('wrong'), await signIn('wrong'), await signIn(password)]).toEqual([401, 401, 429]);
      expect(await ends('sallyport admin audit --action account.lock --since 1h')).toMatch(
        /account\.lock .* of ann@example\.com .* until .* from 127\.0\.0\.1$/m,
      );
      const unlocked = JSON.parse(await ends(`${program} unlock ann@example.com --json`)) as object;
      expect(unlocked).toMatchObject({ email: 'ann@example.com', was_locked: true });
      expect(await signIn(password)).toBe(303);
    }
  },
);
