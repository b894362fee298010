import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runHere } from '../../testing/cli.ts';
import { environmentAt, startService, type Answer, type Service } from '../../testing/service.ts';

const created_at = '2020-01-02T03:04:05.000Z';
const account = { id: 'a1', email: 'ann@example.com' };
const ann = { ...account, role: 'admin', has_password: true, created_at };
const bob = { id: 'b2', email: 'bob\u001B[2J@example.com', role: 'viewer', has_password: false, created_at };

let cwd: string;
let service: Service;
let answers: Record<string, Answer>;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-admin-'));
  answers = { 'GET /api/admin/people?limit=1000': { body: [ann, bob] } };
  service = await startService(answers);
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

const run = (...args: string[]) =>
  runHere(['admin', ...args], { cwd, env: { ...environmentAt(service), SALLYPORT_DIALECT_VENDOR: 'acme' } });
const calls = () => service.seen.map(({ method, url, body }) => ({ [`${method} ${url}`]: body }));

describe('what members have is listed, with whose it is', () => {
  const key = { id: 'k1', account, name: null, scope: 'acme_api', expires_at: null, last_used_at: null };
  const login = { client_id: 'c1', client_name: null, address: '10.0.0.7', refreshed_at: null };
  const signIn = { id: 's1', account, address: null, user_agent: null, expires_at: 'x' };
  test.each([
    ['people', 'people', [ann, bob], /^EMAIL .*\nann@example.com +admin +set +2020-01-02 +a1\nbob \[2J/],
    ['keys', 'api_keys', [{ ...key, created_at }], /^k1 +ann@example.com +- +2020-01-02 +never +never/m],
    [
      'devices',
      'trusted_devices',
      [{ id: 'd1', account, display_name: 'laptop', created_at, last_used_at: created_at }],
      /^d1 +ann@example.com +laptop +2020-01-02 +2020-01-02$/m,
    ],
    [
      'logins',
      'logins',
      [{ id: 'l1', account, ...login, created_at, expires_at: 'x' }],
      /^l1 .* c1 +10\.0\.0\.7 .* x$/m,
    ],
    ['sign-ins', 'sign_ins', [signIn], /^s1 +ann@example.com +- /m],
    [
      'clients',
      'clients',
      [{ client_id: 'c1', client_name: 'Tool', redirect_uris: ['a:b'], grant_types: [], scope: 'profile' }],
      /^c1 +Tool +profile +a:b$/m,
    ],
  ])('%s', async (noun, path, items, shown) => {
    answers[`GET /api/admin/${path}?limit=101`] = {
      body: items.map((item) => ({ created_at, ...item })),
    };
    expect(await run(noun, 'list')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(shown) as string,
    });
  });

  test('with --json as the service has it; where there is none, it is said', async () => {
    answers['GET /api/admin/people?limit=101'] = { body: [ann, bob] };
    expect(JSON.parse((await run('people', 'list', '--json')).stdout)).toEqual([ann, bob]);
    answers['GET /api/admin/api_keys?limit=101'] = { body: [] };
    expect((await run('keys', 'list')).stdout).toBe('No member has an API key.\n');
  });
});

describe('people', () => {
  test('who is new gets a link, others have their password, and a member is told of', async () => {
    const setup_link = 'https://x.example/setup?t=1';
    const setup_link_expires_at = '2026-01-02T03:04:05.000Z';
    answers['POST /api/admin/people'] = { status: 201, body: { ...bob, setup_link, setup_link_expires_at } };
    expect((await run('people', 'add', 'bob@example.com', '--role', 'viewer')).stdout).toBe(
      `bob [2J@example.com is a member with the role viewer.\nGive them this link, with which they set their password, once, until ${setup_link_expires_at}:\n${setup_link}\n`,
    );
    answers['POST /api/admin/people'] = { status: 201, body: ann };
    expect((await run('people', 'add', 'ann@example.com')).stdout).toContain('with the password that');
    answers['POST /api/admin/people'] = { status: 201, body: { ...bob, email: 'bob@example.com' } };
    expect((await run('people', 'add', 'bob@example.com')).stdout).toContain(
      'sallyport-gateway admin user password bob@example.com',
    );
    const body = { error: 'conflict', error_description: 'It is a member already.' };
    answers['POST /api/admin/people'] = { status: 409, body };
    expect(await run('people', 'add', 'ann@example.com', '--role', 'admin')).toMatchObject({
      exitCode: 5,
      stderr: expect.stringMatching(
        /sallyport admin people role ann@example.com admin\n.* new link .* sallyport admin people remove ann@example.com\n$/,
      ) as string,
    });
    expect(calls()[0]).toEqual({ 'POST /api/admin/people': { email: 'bob@example.com', role: 'viewer' } });
  });

  test('go by their addresses', async () => {
    answers['POST /api/admin/people/a1'] = { body: { ...ann, role: 'member' } };
    expect((await run('people', 'role', 'Ann@Example.com', 'member')).stdout).toBe(
      'ann@example.com has the role member.\n',
    );
    expect(calls().at(-1)).toEqual({ 'POST /api/admin/people/a1': { role: 'member' } });
    answers['DELETE /api/admin/people/a1'] = { body: { id: 'a1', deleted: true } };
    expect(await run('people', 'remove', 'ann@example.com')).toMatchObject({ exitCode: 2, stdout: '' });
    expect(await run('people', 'remove', 'ann@example.com', 'eve@example.com', '--yes')).toMatchObject({
      exitCode: 4,
      stdout: 'The membership of ann@example.com is ended.\n',
      stderr: expect.stringMatching(
        /eve@example.com is no member.*\n.*sallyport admin people list/,
      ) as string,
    });
    expect((await run('people', 'role', 'ann@example.com', 'king')).exitCode).toBe(2);
    const last = { error: 'conflict', error_description: 'The account is the last admin.' };
    answers['POST /api/admin/people/a1'] = { status: 409, body: last };
    answers['DELETE /api/admin/people/a1'] = { status: 409, body: last };
    const ending = [
      ['role', 'ann@example.com', 'member'],
      ['remove', 'ann@example.com', '--yes'],
    ];
    for (const args of ending)
      expect(await run('people', ...args)).toMatchObject({
        exitCode: 5,
        stderr: expect.stringContaining('sallyport admin people role EMAIL admin') as string,
      });
  });
});

test('who is locked out is let in again; where nobody was, it is said', async () => {
  const unlocked = { ...account, was_locked: true };
  answers['POST /api/admin/people/a1/unlock'] = { body: unlocked };
  expect((await run('people', 'unlock', 'ANN@example.com')).stdout).toBe(
    'ann@example.com is no longer locked out.\n',
  );
  expect(calls().at(-1)).toEqual({ 'POST /api/admin/people/a1/unlock': undefined });
  expect(JSON.parse((await run('people', 'unlock', 'a1', '--json')).stdout)).toEqual(unlocked);
  answers['POST /api/admin/people/a1/unlock'] = { body: { ...account, was_locked: false } };
  expect(await run('people', 'unlock', 'a1')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^ann@example.com was not locked out\.\n.*network/) as string,
  });
  expect(await run('people', 'unlock', 'eve@example.com')).toMatchObject({
    exitCode: 4,
    stderr: expect.stringMatching(/eve@example.com is no member.*\n.*sallyport admin people list/) as string,
  });
});

test.each([
  ['keys', 'revoke', 'api_keys', 'API key x1 is revoked.'],
  ['devices', 'revoke', 'trusted_devices', 'Device x1 is revoked.'],
  ['logins', 'revoke', 'logins', 'Login x1 is revoked.'],
  ['sign-ins', 'end', 'sign_ins', 'Sign-in x1 is ended.'],
  ['clients', 'remove', 'clients', 'Client x1 is removed.'],
])('%s %s takes it away by its id', async (noun, verb, path, says) => {
  answers[`DELETE /api/admin/${path}/x1`] = { body: { id: 'x1', deleted: true } };
  expect(await run(noun, verb, 'x1', 'x9', '--yes')).toMatchObject({
    exitCode: 4,
    stdout: `${says}\n`,
    stderr: expect.stringContaining(`sallyport admin ${noun} list`) as string,
  });
});

test('nothing is taken away without a word for it', async () => {
  expect(await run('keys', 'revoke', 'x1')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--yes') as string,
  });
  expect(service.seen).toEqual([]);
});

test('settings are listed, set with JSON, and unset', async () => {
  const body = { settings: { model: 'large', flag: false } };
  answers['GET /api/admin/settings'] = { body: { settings: {} } };
  answers['POST /api/admin/settings/model'] = { body };
  answers['DELETE /api/admin/settings/flag'] = { body };
  expect((await run('settings', 'list')).stdout).toBe('The organization sets nothing for its members.\n');
  expect((await run('settings', 'set', 'model', '"large"')).stdout).toBe(
    'SETTING  VALUE\nmodel    "large"\nflag     false\n',
  );
  expect(calls().at(-1)).toEqual({ 'POST /api/admin/settings/model': { value: 'large' } });
  expect(await run('settings', 'set', 'model', 'large')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('JSON is needed') as string,
  });
  expect((await run('settings', 'set', '', '1')).stderr).toMatch(/^error: The name cannot be ""\.\n/);
  expect(JSON.parse((await run('settings', 'unset', 'flag', '--json')).stdout)).toEqual(body.settings);
  expect((await run('settings', 'unset', 'none')).stderr).toContain('sallyport admin settings list');
});

test('a client is registered, in the words of the gateway', async () => {
  const client = {
    client_id: 'c1',
    client_name: 'Tool',
    redirect_uris: ['a:b'],
    grant_types: [],
    scope: 'x',
  };
  answers['POST /api/admin/clients'] = { status: 201, body: { ...client, created_at } };
  const args = ['--name', 'Tool', '--redirect-uri', 'a:b', '--scope', 'vendor_api'];
  expect((await run('clients', 'add', ...args)).stdout).toBe('Tool is registered as c1.\n');
  expect(calls()).toEqual([
    { 'POST /api/admin/clients': { client_name: 'Tool', redirect_uris: ['a:b'], scope: 'acme_api' } },
  ]);
});

test('the audit log is shown a line an entry, and asked for what is wanted', async () => {
  const entry = {
    id: '1',
    at: created_at,
    action: 'api_key.revoke',
    outcome: 'done',
    actor: { type: 'account', ...account },
    account: { id: 'b2', email: 'bob@example.com' },
    organization_id: null,
    subject: 'k1',
    details: {},
    address: '10.0.0.7',
    request_id: null,
  };
  const path = 'GET /api/admin/audit?actor=ann%40example.com&action=api_key.revoke&limit=21';
  answers[path] = { body: [entry] };
  const { stdout } = await run('audit', '--actor', 'ann@example.com', '--action', 'api_key.revoke');
  expect(stdout).toBe(
    `${created_at}  api_key.revoke  by ann@example.com  of bob@example.com  k1  from 10.0.0.7\n`,
  );
  const since = async (when: string) => {
    await run('audit', '--since', when, '--limit', '3');
    return new URL(service.seen.at(-1)?.url ?? '', service.baseUrl).searchParams.get('since') ?? '';
  };
  expect(await since('2026-01-31')).toBe('2026-01-31T00:00:00.000Z');
  expect(Math.abs(Date.now() - 3_600_000 - Date.parse(await since('1h')))).toBeLessThan(60_000);
});

test('an actor that is no member is no silence of the log', async () => {
  for (const email of ['ann', 'nobody'])
    answers[`GET /api/admin/audit?actor=${email}%40example.com&limit=21`] = { body: [] };
  expect(await run('audit', '--actor', 'ann@example.com')).toMatchObject({
    exitCode: 0,
    stdout: 'No entry matches.\n',
  });
  expect(await run('audit', '--actor', 'nobody@example.com')).toEqual({
    exitCode: 4,
    stdout: '',
    stderr:
      'error: nobody@example.com is no member of the organization.\nSee who is: sallyport admin people list\n',
  });
});

test('what no API key may is left to a login, not to another admin', async () => {
  answers['POST /api/admin/people'] = {
    status: 403,
    body: { error: 'forbidden', error_description: 'An API key gives nobody access: log in.' },
  };
  const add = async (token: string) =>
    runHere(['admin', 'people', 'add', 'new@example.com', '--role', 'member'], {
      cwd,
      env: { ...environmentAt(service), SALLYPORT_TOKEN: token },
    });
  expect((await add('sk-key')).stderr).toBe(
    'error: An API key gives nobody access: log in.\nUnset SALLYPORT_TOKEN to do it with the stored login; where there is none: sallyport login\n',
  );
  expect((await add('at-token')).stderr).toContain('An admin of the organization may');
});

test('who is no admin is told so', async () => {
  const body = { error: 'forbidden', error_description: 'This needs the permission manage_projects.' };
  for (const path of ['people?limit=101', 'settings'])
    answers[`GET /api/admin/${path}`] = { status: 403, body };
  for (const noun of ['people', 'settings'])
    expect(await run(noun, 'list')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('see what you may do with sallyport access') as string,
    });
});
