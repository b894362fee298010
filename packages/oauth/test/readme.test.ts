import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileTokenStore } from '../src/index.ts';
import { fakeEnvironment } from './fake-keychain.ts';
import { startScriptedServer, tokens, type ScriptedServer } from './scripted-server.ts';

let folder: string;
let server: ScriptedServer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-readme-'));
  server = await startScriptedServer();
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

test("the README's program logs in, stores the login and calls the service with it", async () => {
  server.on('/v1/oauth/device_authorization', {
    body: {
      ...{ device_code: 'dc-1', user_code: 'BCDF-GHJK', expires_in: 900, interval: 0.01 },
      verification_uri: `${server.baseUrl}/device`,
    },
  });
  server.on('/v1/oauth/token', { body: tokens(1) });
  server.on('/api/oauth/profile', {
    body: {
      organization: { organization_type: 'agent_team', rate_limit_tier: 'default' },
      account: { uuid: 'a', email: 'me@example.com' },
    },
  });
  const readme = await readFile(join(import.meta.dirname, '../README.md'), 'utf8');
  const program = (/```ts\n([^]*?)```/.exec(readme)?.[1] ?? '')
    .replace('http://127.0.0.1:8787', server.baseUrl)
    .replace('/home/me/.local/state/my-tool', folder);
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['-C', '@sallyport/source', '--input-type=module-typescript', '-e', program],
    {
      cwd: import.meta.dirname,
      env: fakeEnvironment('secret-tool', 'without-bus', join(folder, 'keyring')),
    },
  );
  expect(stdout).toBe('Logged in as me@example.com\n');
  expect(stderr).toMatch(
    /^Open http:\S+\/device, enter BCDF-GHJK\nThe login is kept in a file: .*D-Bus.*\.\n$/,
  );
  const store = fileTokenStore({ directory: join(folder, 'logins') });
  expect(await store.load('default')).toMatchObject({ refreshToken: 'rt-1' });
});
