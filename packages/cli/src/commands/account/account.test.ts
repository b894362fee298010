import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runHere } from '../../testing/cli.ts';
import { startService, type Answer, type Service } from '../../testing/service.ts';

const [mine, other, foreign] = [1, 2, 3].map((n) => `0b6f7a52-8d5e-4b5e-9d3f-00000000000${n}`) as [
  string,
  string,
  string,
];

let cwd: string;
let service: Service;
let answers: Record<string, Answer>;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-account-'));
  const memberships = [
    // A service of another make may give no name.
    { organization: { uuid: mine, capabilities: ['agent_code'] } },
    { organization: { uuid: other, capabilities: ['agent_code'], name: 'Team' } },
  ];
  answers = { 'GET /api/bootstrap': { body: { account: { uuid: 'a', memberships } } } };
  service = await startService(answers);
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

const run = (args: string, env: NodeJS.ProcessEnv = {}) =>
  runHere(args.split(' '), {
    cwd,
    env: { SALLYPORT_BASE_URL: service.baseUrl, SALLYPORT_TOKEN: 'secret', DO_NOT_TRACK: '1', ...env },
  });
const done = (stdout: string) => ({ exitCode: 0, stdout, stderr: '' });

test('access is shown for the organization in use', async () => {
  answers[`GET /api/bootstrap/${mine}/current_user_access`] = {
    body: { access_level: 'member', permissions: ['read', 'write'] },
  };
  expect(await run('access', { SALLYPORT_ORG: mine })).toEqual(
    done(`Organization:  ${mine}\nAccess:        member\nPermissions:   read, write\n`),
  );
  const membership = { organization: { uuid: mine, name: 'Team' } };
  answers['GET /api/bootstrap'] = { body: { account: { memberships: [membership] } } };
  expect((await run('access', { SALLYPORT_ORG: mine })).stdout).toContain(`Organization:  Team (${mine})\n`);
  expect(await run('access', { SALLYPORT_ORG: foreign })).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining('sallyport org list') as string,
  });
});

test('the organization of a token is what the service says of it; one that may not ask has to name it', async () => {
  const path = 'GET /api/oauth/profile';
  answers[path] = {
    body: { organization: { organization_type: 'agent_team', rate_limit_tier: 'x', uuid: other } },
  };
  answers[`GET /api/bootstrap/${other}/current_user_access`] = {
    body: { access_level: 'admin', permissions: ['read'] },
  };
  expect(await run('access')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining(other) as string,
  });
  answers[path] = { status: 401, body: { error: 'invalid_token', error_description: 'It has expired.' } };
  expect(await run('access')).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining('refused the token in SALLYPORT_TOKEN') as string,
  });
  answers[path] = { status: 403, body: { error: 'insufficient_scope', error_description: 'No.' } };
  expect(await run('access')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(other) as string,
  });
});

test('roles are listed', async () => {
  answers['GET /api/oauth/agent_cli/roles'] = {
    body: { roles: [{ name: 'viewer', permissions: ['read'] }] },
  };
  expect(await run('roles')).toEqual(done('ROLE    PERMISSIONS\nviewer  read\n'));
});

test('settings are those of the organization; where there are none, who sets them is said', async () => {
  const path = 'GET /api/agent_code/settings';
  answers[path] = { body: { settings: { telemetry: false, model: { name: 'x' } } } };
  expect(await run('settings')).toEqual(
    done('SETTING    VALUE\ntelemetry  false\nmodel      {"name":"x"}\n'),
  );
  expect(service.seen[0]?.headers['vendor-beta']).toBe('oauth-2025-04-20');
  answers[path] = { status: 204 };
  expect(await run('settings')).toEqual(
    done(
      expect.stringMatching(
        /^The organization has no managed settings\. .+ admin settings set NAME JSON\n$/,
      ) as string,
    ),
  );
  expect(await run('settings --json')).toEqual(done('null\n'));
});

test('token prints the token alone', async () => {
  expect(await run('token')).toEqual(done('secret\n'));
  expect(JSON.parse((await run('token --json')).stdout)).toEqual({
    access_token: 'secret',
    token_type: 'Bearer',
    base_url: service.baseUrl,
  });
  const { exitCode, stdout } = await run('token', { SALLYPORT_TOKEN: '' });
  expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
});
