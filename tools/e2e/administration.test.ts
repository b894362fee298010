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
  expect(JSON.parse(of('sallyport-gateway admin user erase ann@example.com --yes') ?? '')).toMatchObject({
    email: 'ann@example.com',
  });
});
