import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runHere } from '../../testing/cli.ts';
import { startService, type Service } from '../../testing/service.ts';
import { storeLogin } from '../../testing/stored-login.ts';

const [mine, other, twin, foreign] = [1, 2, 3, 4].map((n) => `0b6f7a52-8d5e-4b5e-9d3f-00000000000${n}`) as [
  string,
  string,
  string,
  string,
];
const organizations = [
  // A service of another make may give no name.
  { uuid: mine, capabilities: ['agent_code'] },
  { uuid: other, capabilities: ['agent_code'], name: 'Team' },
];
const twins = [
  { uuid: twin, capabilities: [], name: 'Twin' },
  { uuid: foreign, capabilities: [], name: 'twin' },
];

let cwd: string;
let service: Service;
let memberships: { organization: object }[];
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-org-'));
  memberships = organizations.map((organization) => ({ organization }));
  service = await startService({
    'GET /api/bootstrap': () => ({ body: { account: { uuid: 'a', memberships } } }),
    [`GET /v1/environment_providers/private/organizations/${mine}/environments?limit=1000`]: {
      body: { environments: [], has_more: false },
    },
    'GET /api/oauth/api_keys': { body: { api_keys: [] } },
  });
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

const run = (args: string[], env: NodeJS.ProcessEnv = {}) =>
  runHere(args, { cwd, env: { SALLYPORT_BASE_URL: service.baseUrl, DO_NOT_TRACK: '1', ...env } });
const token = { SALLYPORT_TOKEN: 'secret' };
const done = (stdout: string) => ({ exitCode: 0, stdout, stderr: '' });
const configPath = () => join(cwd, 'config/config.json');
const config = () => JSON.parse(readFileSync(configPath(), 'utf8')) as unknown;

test('organizations are listed, and one is used once the account is known to be a member', async () => {
  expect((await run(['org', 'list'], token)).stdout).toBe(
    `  UUID                                  NAME  CAPABILITIES\n  ${mine}        agent_code\n  ${other}  Team  agent_code\n`,
  );
  expect(await run(['org', 'use', other.toUpperCase()], token)).toEqual(done(`organization is ${other}.\n`));
  expect(config()).toEqual({ organization: other });
  const listed = await run(['org', 'list', '--json'], token);
  expect(JSON.parse(listed.stdout)).toMatchObject([
    { uuid: mine, in_use: false },
    { uuid: other, in_use: true },
  ]);
  expect(await run(['org', 'use', foreign], token)).toMatchObject({
    exitCode: 3,
    stdout: '',
    stderr: expect.stringContaining(`It has one in ${mine}, Team (${other}).`) as string,
  });
  expect(config()).toEqual({ organization: other });
});

describe('a login is for one organization', () => {
  beforeEach(() => storeLogin(cwd, service.baseUrl, { organizationId: mine }));

  test('so that another one is used only after a login for it', async () => {
    expect(await run(['org', 'use', 'Team'])).toEqual({
      exitCode: 3,
      stdout: '',
      stderr: [
        `error: A login is for one organization, and this one is for ${mine}; nothing was changed.`,
        `Log in for Team (${other}), which is in use then: sallyport login --base-url ${service.baseUrl} --org ${other}`,
        `Or keep both logins, the new one in a profile: sallyport profile add NAME --organization ${other} --base-url ${service.baseUrl}, and sallyport login --profile NAME`,
        '',
      ].join('\n'),
    });
    expect(existsSync(configPath())).toBe(false);
    expect(await run(['env', 'list', '--online'])).toMatchObject({ exitCode: 0 });
    expect(await run(['org', 'use', mine])).toEqual(done(`organization is ${mine}.\n`));
  });

  test.each([
    ['SALLYPORT_ORG', other],
    ['SALLYPORT_ORG', 'team'],
    ['the file of the project', other],
  ])('so that with another one in %s (%s) no command acts, for either', async (where, given) => {
    if (where !== 'SALLYPORT_ORG')
      writeFileSync(join(cwd, '.sallyport.json'), JSON.stringify({ organization: given }));
    const env = where === 'SALLYPORT_ORG' ? { SALLYPORT_ORG: given } : {};
    for (const command of ['env list --online', 'keys list', 'session list']) {
      expect(await run(command.split(' '), env)).toEqual({
        exitCode: 3,
        stdout: '',
        stderr: [
          `error: The settings name the organization Team (${other}), and this login is for ${mine}.`,
          `Log in for it: sallyport login --base-url ${service.baseUrl} --org ${other}`,
          'Or see where the setting comes from: sallyport config list --show-origin',
          '',
        ].join('\n'),
      });
    }
    expect(new Set(service.lines())).toEqual(new Set(['GET /api/bootstrap']));
  });
});

describe('an organization goes by its name', () => {
  test.each([
    ['org use', ['org', 'use', 'team']],
    ['config set', ['config', 'set', 'organization', 'Team']],
  ])('in %s', async (_, args) => {
    expect(await run(args, token)).toEqual(done(`organization is ${other}.\n`));
  });

  test('in SALLYPORT_ORG', async () => {
    memberships = [{ organization: { uuid: mine, capabilities: [], name: 'Home' } }];
    storeLogin(cwd, service.baseUrl, { organizationId: mine });
    expect(await run(['env', 'list', '--online'], { SALLYPORT_ORG: 'home' })).toMatchObject({ exitCode: 0 });
    expect(service.lines().join()).toContain(`/organizations/${mine}/`);
    const { stdout } = await run(['org', 'list', '--json'], { SALLYPORT_ORG: 'home' });
    expect(JSON.parse(stdout)).toMatchObject([{ uuid: mine, in_use: true }]);
  });

  test('of two that are alike by the exact one, or by none', async () => {
    memberships = twins.map((organization) => ({ organization }));
    expect(await run(['org', 'use', 'Twin'], token)).toEqual(done(`organization is ${twin}.\n`));
    expect(await run(['org', 'use', 'TWIN'], token)).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `error: Several organizations of this account are called TWIN: Twin (${twin}), twin (${foreign}).\nName one by its UUID.\n`,
    });
  });
});
