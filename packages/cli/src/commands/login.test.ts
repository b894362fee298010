import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCli } from '../testing/cli.ts';
import { startService, type Answer, type Seen, type Service } from '../testing/service.ts';

const [mine, foreign] = ['0b6f7a52-8d5e-4b5e-9d3f-000000000001', '0b6f7a52-8d5e-4b5e-9d3f-000000000002'];
const account = {
  uuid: 'a',
  memberships: [{ organization: { uuid: mine, capabilities: [], name: 'Team' } }],
};
const profile = {
  organization: { organization_type: 'agent_team', rate_limit_tier: 'default', uuid: mine, name: 'Team' },
  account: { uuid: 'a', email: 'me@example.com', role: 'member' },
};
const noLogin = { status: 401, body: { error: 'invalid_token', error_description: 'Unknown.' } };

let cwd: string;
let service: Service;
let answers: Record<string, Answer | ((seen: Seen) => Answer)>;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-login-'));
  mkdirSync(join(cwd, 'keyring'));
  answers = {
    'GET /api/bootstrap': { body: { account } },
    'GET /api/oauth/profile': ({ headers }) =>
      headers.authorization === 'Bearer at-1' ? { body: profile } : noLogin,
    [`POST /v1/oauth/${mine}/authorize`]: ({ body }) => {
      const { redirect_uri: uri, state } = body as Record<string, string>;
      return { body: { redirect_uri: `${uri}?code=c&state=${state}` } };
    },
    [`POST /v1/oauth/${foreign}/authorize`]: {
      status: 403,
      body: { error: 'forbidden', error_description: 'The account is no member.' },
    },
    'POST /v1/oauth/token': { body: { access_token: 'at-1', refresh_token: 'rt-1', expires_in: 3600 } },
    'POST /v1/oauth/revoke': { body: '' },
  };
  service = await startService(answers);
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

const keyring = () => readdirSync(join(cwd, 'keyring')).filter((name) => name !== 'calls');
const loginFile = () => join(cwd, 'config/state/logins', `${encodeURIComponent(service.baseUrl)}.json`);

/** Runs a command where `secret-tool` is of that kind; what it keeps is in the folder `keyring`. */
const run = (kind: string, args: string, env: NodeJS.ProcessEnv = {}) => {
  const tools = join(import.meta.dirname, '../../../oauth/test/secret-tool', kind);
  // Nothing of the machine's own where there is to be none.
  const PATH = kind === 'missing' ? cwd : [tools, '/usr/bin', '/bin'].join(delimiter);
  return runCli(args.split(' '), {
    cwd,
    env: {
      PATH,
      FAKE_KEYRING: join(cwd, 'keyring'),
      SALLYPORT_BASE_URL: service.baseUrl,
      DO_NOT_TRACK: '1',
      ...env,
    },
    input: 'session-key\n',
  });
};
const login = 'login --session-key-stdin';

test('a login is in the keychain, and every command finds it there, until it is logged out', async () => {
  expect(await run('working', login)).toEqual({
    exitCode: 0,
    stdout: `Logged in as me@example.com (Team, member) at ${service.baseUrl}\n`,
    stderr: '',
  });
  expect(keyring()).toHaveLength(1);
  expect(readFileSync(loginFile(), 'utf8')).not.toMatch(/at-1|rt-1/);
  expect((await run('working', 'whoami')).stdout).toMatch(
    /\nThe login is in the keychain \(secret-tool\)\.\n$/,
  );
  expect((await run('working', 'doctor')).stdout).toMatch(
    /login: a login is in the keychain \(secret-tool\); its/,
  );
  expect(await run('working', 'logout')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(service.seen.at(-1)?.body).toMatchObject({ token: 'rt-1' });
  expect(keyring()).toEqual([]);
});

test('a new login ends the one before, once it is stored; whether or not that succeeds it holds', async () => {
  const issue = (n: number) => {
    const tokens = { access_token: 'at-1', refresh_token: `rt-${n}`, expires_in: 3600 };
    answers['POST /v1/oauth/token'] = { body: tokens };
  };
  const file = { SALLYPORT_CREDENTIAL_STORE: 'file' };
  const stored = () =>
    (JSON.parse(readFileSync(loginFile(), 'utf8')) as { refreshToken: string }).refreshToken;
  const atRevocation: string[] = [];
  answers['POST /v1/oauth/revoke'] = () => {
    atRevocation.push(stored());
    return { body: '' };
  };
  await run('missing', login, file);
  issue(2);
  expect(await run('missing', login, file)).toMatchObject({ exitCode: 0, stderr: '' });
  const revoked = service.seen.filter(({ url }) => url === '/v1/oauth/revoke').map(({ body }) => body);
  expect(revoked).toMatchObject([{ token: 'rt-1' }]);
  expect(atRevocation).toEqual(['rt-2']);

  issue(3);
  answers['POST /v1/oauth/revoke'] = { status: 400, body: { error: 'invalid_request' } };
  const { exitCode, stderr } = await run('missing', login, file);
  expect({ exitCode, stored: stored() }).toEqual({ exitCode: 0, stored: 'rt-3' });
  expect(stderr).toMatch(
    /^The login from before could not be ended \(.+\); it holds at \S+ until it expires\.\n$/,
  );
});

test('whoever named the gateway is told to log in there', async () => {
  expect(await run('missing', `whoami --base-url ${service.baseUrl}`)).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining(`\nRun \`sallyport login --base-url ${service.baseUrl}\`.\n`) as string,
  });
});

test('whoever logs in at an address that only a flag names is told how to keep it', async () => {
  const { baseUrl } = service;
  const env = { SALLYPORT_BASE_URL: '', SALLYPORT_CREDENTIAL_STORE: 'file' };
  const keep = `sallyport config set base-url ${baseUrl}`;
  const noted = `Without --base-url commands go to http://127.0.0.1:8787. To have them all go here: ${keep}\n`;
  expect(await run('missing', `${login} --base-url ${baseUrl}`, env)).toMatchObject({ stderr: noted });
  expect(await run('missing', 'whoami', env)).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining(
      `name it with --base-url. To have all commands go there: \`${keep}\`. Or`,
    ) as string,
  });
  expect(await run('missing', keep.slice('sallyport '.length), env)).toMatchObject({ exitCode: 0 });
  expect(await run('missing', 'whoami', env)).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await run('missing', `${login} --base-url ${baseUrl}`, env)).toMatchObject({ stderr: '' });
  // Whoever has another gateway knows that there are two.
  await run('missing', 'config set base-url http://127.0.0.1:1', env);
  expect(await run('missing', `${login} --base-url ${baseUrl}`, env)).toMatchObject({ stderr: '' });
});

test('two profiles are two logins, be they at one gateway; nothing else leads to them', async () => {
  const file = { SALLYPORT_CREDENTIAL_STORE: 'file' };
  const issue = (n: number) => {
    const tokens = { access_token: `at-${n}`, refresh_token: `rt-${n}`, expires_in: 3600 };
    answers['POST /v1/oauth/token'] = { body: tokens };
    answers['GET /api/oauth/profile'] = { body: profile };
  };
  for (const [n, name] of ['ann', 'bob'].entries()) {
    await run('missing', `profile add ${name}`, file);
    issue(n);
    expect(await run('missing', `${login} --profile ${name}`, file)).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
  }
  expect(service.seen.filter(({ url }) => url === '/v1/oauth/revoke')).toEqual([]);
  const tokenOf = async (name: string) => (await run('missing', `token --profile ${name}`)).stdout;
  expect([await tokenOf('ann'), await tokenOf('bob')]).toEqual(['at-0\n', 'at-1\n']);
  const { exitCode, stderr } = await run('missing', 'whoami');
  const { baseUrl } = service;
  expect([exitCode, stderr]).toEqual([
    3,
    `error: There is no login for ${baseUrl} on this machine.\nThere is a login for ${baseUrl} (profile ann), ${baseUrl} (profile bob): name it with --profile. Or run \`sallyport login --base-url ${baseUrl}\` for this one.\n`,
  ]);
  expect(await run('missing', 'logout --profile ann')).toMatchObject({
    stdout: `Logged out of ${baseUrl} (profile ann).\n`,
  });
  expect(service.seen.at(-1)?.body).toMatchObject({ token: 'rt-0' });
  expect([await tokenOf('ann'), await tokenOf('bob')]).toEqual(['', 'at-1\n']);
  expect((await run('missing', 'whoami --profile ann')).stderr).toContain(
    'Or run `sallyport login --profile ann` for this one.',
  );
  expect(await run('missing', 'profile remove bob', file)).toEqual({
    exitCode: 0,
    stdout: 'Removed the profile bob, and logged out.\n',
    stderr: '',
  });
  expect(service.seen.at(-1)?.body).toMatchObject({ token: 'rt-1' });
  const logins = join(cwd, 'config/state/logins');
  expect(readdirSync(logins).filter((name) => name.endsWith('.json'))).toEqual([]);
});

test('a profile goes though its gateway cannot be told, which is said', async () => {
  const file = { SALLYPORT_CREDENTIAL_STORE: 'file' };
  await run('missing', 'profile add ann', file);
  await run('missing', `${login} --profile ann`, file);
  answers['POST /v1/oauth/revoke'] = { status: 400, body: { error: 'invalid_request' } };
  // What the project asks for is no hindrance.
  writeFileSync(join(cwd, '.sallyport.json'), '{"profile": "gone"}');
  const { exitCode, stdout, stderr } = await run('missing', 'profile remove ann --json', file);
  expect({ exitCode, said: JSON.parse(stdout) as unknown }).toEqual({
    exitCode: 0,
    said: { name: 'ann', removed: true, logged_out: true, revoked: false },
  });
  expect(stderr).toMatch(/^\S+ could not be told \(.+\); the login holds there until it expires\.\n$/);
});

test('a torn login is removed, in words that do not send people in a circle', async () => {
  const file = { SALLYPORT_CREDENTIAL_STORE: 'file' };
  await run('missing', login, file);
  writeFileSync(loginFile(), readFileSync(loginFile(), 'utf8').slice(0, 60));
  // Of another program: what is no name of a login is none.
  writeFileSync(join(loginFile(), '../%zz.json'), '');
  expect(await run('missing', 'logout', file)).toEqual({
    exitCode: 0,
    stdout: `Logged out of ${service.baseUrl}.\n`,
    stderr: `What was stored was not a whole login any more, and is removed. ${service.baseUrl} could not be told: the login holds there until it expires.\n`,
  });
  expect(await run('missing', 'whoami', file)).toMatchObject({
    exitCode: 3,
    stderr: `error: There is no login for ${service.baseUrl} on this machine.\nRun \`sallyport login\`.\n`,
  });
});

test('a session key that is refused is what the person is told to renew', async () => {
  answers[`POST /v1/oauth/${mine}/authorize`] = noLogin;
  const { exitCode, stderr } = await run('working', login);
  expect(exitCode).toBe(3);
  expect(stderr).toContain('sallyport-gateway admin session-key');
  expect(stderr).not.toContain('Log in again');
});

test('after logout it is said that a token of the environment is still used', async () => {
  await run('working', login);
  const { exitCode, stderr } = await run('working', 'logout', { SALLYPORT_TOKEN: 'at-1' });
  expect(exitCode).toBe(0);
  expect(stderr).toBe('SALLYPORT_TOKEN is set: commands go on with it until you unset it.\n');
});

test.each([
  ['hanging', 'it did not answer within 3 s'],
  ['missing', 'there is no secret-tool'],
])('where the keychain is %s, the login is in a file, and that is said', async (kind, why) => {
  expect(await run(kind, login)).toMatchObject({
    exitCode: 0,
    stderr: `The login is kept in a file that only this account can read: no keychain can be used (${why}).\n`,
  });
  expect(JSON.parse(readFileSync(loginFile(), 'utf8'))).toMatchObject({ refreshToken: 'rt-1' });
});

test('of a login that fails nobody is told where it is kept', async () => {
  answers[`POST /v1/oauth/${mine}/authorize`] = noLogin;
  const { exitCode, stderr } = await run('missing', login);
  expect(exitCode).toBe(3);
  expect(stderr).toMatch(/^error: /);
});

test('where only the keychain is wanted, nobody is logged in for nothing', async () => {
  const { exitCode, stderr } = await run('locked', login, { SALLYPORT_CREDENTIAL_STORE: 'keychain' });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('sallyport config set credential-store file');
  expect(service.seen).toEqual([]);
});

test('a login that cannot be kept is ended at the service', async () => {
  const { exitCode } = await run('forgetful', login, { SALLYPORT_CREDENTIAL_STORE: 'keychain' });
  expect(exitCode).toBe(1);
  expect(service.seen.at(-1)).toMatchObject({ url: '/v1/oauth/revoke', body: { token: 'rt-1' } });
  expect(existsSync(loginFile())).toBe(false);
});

test('the organization of the settings must be one of the account, at the login and later', async () => {
  expect(
    await run('missing', login, { SALLYPORT_ORG: foreign, SALLYPORT_CREDENTIAL_STORE: 'file' }),
  ).toMatchObject({
    exitCode: 3,
    stderr: `error: The account is no member.\nSee who names the organization ${foreign}: sallyport config list --show-origin\n`,
  });
  await run('missing', login);
  expect(await run('missing', 'whoami', { SALLYPORT_ORG: foreign })).toEqual({
    exitCode: 3,
    stdout: '',
    stderr:
      `error: This login has no membership in the organization ${foreign}.\n` +
      `It has one in Team (${mine}). See where a setting comes from: sallyport config list --show-origin\n`,
  });
  const { stdout } = await run('missing', 'whoami --json');
  expect(JSON.parse(stdout)).toMatchObject({ stored_in: loginFile() });
});

test('a login that was approved for another organization than is wanted is ended, and the one before stays', async () => {
  const file = { SALLYPORT_CREDENTIAL_STORE: 'file' };
  await run('missing', login, file);
  const before = readFileSync(loginFile(), 'utf8');
  const claims = Buffer.from(JSON.stringify({ sub: 'a', org: foreign })).toString('base64url');
  const tokens = { access_token: `h.${claims}.s`, refresh_token: 'rt-2', expires_in: 3600 };
  answers['POST /v1/oauth/token'] = { body: tokens };
  for (const [args, env] of [
    [login, { SALLYPORT_ORG: mine }],
    [`${login} --org Team`, {}],
  ] as const) {
    expect(await run('missing', args, { ...file, ...env })).toEqual({
      exitCode: 3,
      stdout: '',
      stderr: [
        `error: The login was approved for the organization ${foreign}, and ${mine} is wanted: it was ended, and nothing is changed here.`,
        `Log in again, and choose ${mine} in the browser. Where a setting wants it: sallyport config list --show-origin`,
        '',
      ].join('\n'),
    });
    expect(service.seen.at(-1)).toMatchObject({ url: '/v1/oauth/revoke', body: { token: 'rt-2' } });
  }
  expect(readFileSync(loginFile(), 'utf8')).toBe(before);
});

test('login --org names the organization, which is in use then', async () => {
  const file = { SALLYPORT_CREDENTIAL_STORE: 'file' };
  await run('missing', `config set organization ${foreign}`);
  // The session key is asked which one has that name: there is no login yet.
  expect(await run('missing', `${login} --org team`, file)).toMatchObject({ exitCode: 0, stderr: '' });
  expect((await run('missing', 'config get organization')).stdout).toBe(`${mine}\n`);
  // With a login, that one knows it.
  answers['POST /v1/oauth/device_authorization'] = { status: 500, body: {} };
  await run('missing', 'login --org team', file);
  expect(service.lines()).toContain('POST /v1/oauth/device_authorization');
  await run('missing', 'logout', file);
  const before = service.seen.length;
  expect(await run('missing', 'login --org team', file)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--org is "team", which is no organization\'s UUID.') as string,
  });
  expect(service.seen).toHaveLength(before);
});

test('where no browser opens after all, a code is shown', async () => {
  answers['POST /v1/oauth/device_authorization'] = {
    body: {
      ...{ device_code: 'd', user_code: 'BCDF-GHJK', expires_in: 900, interval: 0.01 },
      verification_uri: `${service.baseUrl}/device`,
    },
  };
  answers['GET /v1/oauth/authorize'] = { status: 400, body: 'Which client?' };
  // Nothing that could open one is on the PATH.
  const { exitCode, stderr } = await run('missing', 'login', { DISPLAY: ':0' });
  expect(stderr).toMatch(
    /Opening the browser[^]*No browser opens here, and that address is of no use any more\.\nOpen \S+ in a browser .* BCDF-GHJK\n/,
  );
  expect(exitCode).toBe(0);
});

test('the browser that opens is the one that BROWSER names, in words and with %s as elsewhere', async () => {
  answers['GET /v1/oauth/authorize'] = { status: 400, body: 'Which client?' };
  const [script, opened] = [join(cwd, 'browser.mjs'), join(cwd, 'opened')];
  writeFileSync(
    script,
    `import { writeFileSync } from 'node:fs';
     const url = process.argv.at(-1).replace('--new=', '');
     writeFileSync(process.env.OPENED, process.argv.slice(2).join(' ').replace(url, 'URL'));
     const { searchParams: asked } = new URL(url);
     await fetch(\`\${asked.get('redirect_uri')}?code=c&state=\${asked.get('state')}\`);`,
  );
  for (const [given, args] of [
    ['--new', '--new URL'],
    ['--new=%s:other', '--new=URL'],
  ] as const) {
    const BROWSER = `${process.execPath} ${script} ${given}`;
    expect(await run('missing', 'login', { BROWSER, OPENED: opened })).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('Logged in as me@example.com') as string,
    });
    expect(readFileSync(opened, 'utf8')).toBe(args);
  }
});

test('an address where no gateway is opens no browser', async () => {
  const { exitCode, stderr } = await run('missing', `login --base-url ${service.baseUrl}/wrong`, {
    DISPLAY: ':0',
  });
  expect(exitCode).toBe(4);
  expect(stderr).toContain('is not the address of a Sallyport gateway');
  expect(stderr).not.toContain('Opening the browser');
});
