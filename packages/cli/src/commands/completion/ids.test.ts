import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runCli, runHere } from '../../testing/cli.ts';
import { startService, type Answering, type Service } from '../../testing/service.ts';
import { storeLogin } from '../../testing/stored-login.ts';

const organization = '0b6f7a52-8d5e-4b5e-9d3f-000000000001';
const at = '2020-01-01T00:00:00.000Z';
const sessions = ['session_1', 'session_2'].map((id) => ({
  ...{ id, title: 'fix\tthe\u001b[2J\ntest', environment_id: 'env_1', work_id: 'work_1', status: 'done' },
  ...{ tags: [], created_at: at, updated_at: at },
}));
const place = { machine_name: 'laptop', directory: '/src', metadata: {} };
const bridge = {
  ...{ environment_id: 'env_1', ...place, worker_type: 'cowork', status: 'online' },
  ...{ last_seen_at: at, active_sessions: 0 },
};
const managed = {
  id: 'env_2',
  ...place,
  machine_name: 'build-1',
  created_at: at,
  updated_at: at,
  archived_at: null,
};

const account = { id: 'a_1', email: 'ann@example.com' };
const key = {
  id: 'key_1',
  name: 'ci',
  scope: 'profile',
  created_at: at,
  expires_at: null,
  last_used_at: null,
};
const device = { id: 'd_1', display_name: 'laptop', created_at: at, last_used_at: null };
const login = { id: 'l_1', client_id: 'c_1', client_name: 'Tool', refreshed_at: null };
const client = {
  client_id: 'c_1',
  client_name: 'Tool',
  redirect_uris: [],
  grant_types: [],
  scope: 'profile',
};
/** What people and programs call with. */
const held: Record<string, unknown> = {
  '/api/oauth/agent_cli/api_keys': { api_keys: [key, { ...key, id: 'key_2', name: null }] },
  '/api/auth/trusted_devices': { trusted_devices: [device] },
  '/api/admin/people': ['ann', 'bob'].map((name) => ({
    ...{ id: name, email: `${name}@example.com`, role: 'admin', has_password: true, created_at: at },
  })),
  '/api/admin/api_keys': [{ ...key, account }],
  '/api/admin/trusted_devices': [{ ...device, account }],
  '/api/admin/logins': [{ ...login, account, created_at: at, expires_at: at }],
  '/api/admin/sign_ins': [{ id: 's_1', account, created_at: at, expires_at: at }],
  '/api/admin/clients': [{ ...client, created_at: at }],
};

let cwd: string;
let service: Service;
let answering: Answering;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-ids-'));
  answering = ({ url }) => {
    const [path = ''] = url.split('?');
    if (held[path] !== undefined) return { body: held[path] };
    if (url.includes('&status='))
      return { body: [...sessions, { ...sessions[1], status: 'running', title: 'look' }] };
    if (url.startsWith('/v1/sessions?')) return { body: sessions };
    if (url.startsWith('/v1/environments?')) return { body: [managed] };
    return { body: { environments: [bridge], has_more: false } };
  };
  service = await startService((seen, response) => answering(seen, response));
  storeLogin(cwd, service.baseUrl, { organizationId: organization });
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

const complete = (typed: string, env: NodeJS.ProcessEnv = {}, run = runHere) =>
  run(['__complete', '--', ...typed.split(' ')], {
    cwd,
    env: { SALLYPORT_BASE_URL: service.baseUrl, ...env },
  });

const lists = [`organizations/${organization}/environments?limit=1000`, '/v1/environments?limit=1000'];
const known = ['env_1\tonline: laptop /src', 'env_2\toffline: build-1 /src', 'laptop\t/src', 'build-1\t/src'];

test.each([
  [
    'session show ',
    ['session_1\tdone: fix the [2J test', 'session_2\tdone: fix the [2J test'],
    ['/v1/sessions?limit=50'],
  ],
  ['session wait session_1 session_2', ['session_2\tdone: fix the [2J test'], ['/v1/sessions?limit=50']],
  [
    'session approve ',
    ['session_2\trunning: look'],
    ['/v1/sessions?limit=50&status=queued%2Crunning%2Cdisconnected%2Cstopping'],
  ],
  ['keys revoke ', ['key_1\tci', 'key_2\tprofile'], ['/api/oauth/agent_cli/api_keys']],
  ['device revoke ', ['d_1\tlaptop'], ['/api/auth/trusted_devices']],
  ['admin people remove a', ['ann@example.com\tadmin'], ['/api/admin/people?limit=50']],
  ['admin keys revoke ', ['key_1\tann@example.com: ci'], ['/api/admin/api_keys?limit=50']],
  ['admin devices revoke ', ['d_1\tann@example.com: laptop'], ['/api/admin/trusted_devices?limit=50']],
  ['admin logins revoke ', ['l_1\tann@example.com: Tool'], ['/api/admin/logins?limit=50']],
  ['admin sign-ins end ', [`s_1\tann@example.com: ${at}`], ['/api/admin/sign_ins?limit=50']],
  ['admin clients remove ', ['c_1\tTool'], ['/api/admin/clients?limit=50']],
  ['session run look --env ', known, lists],
  ['session run look --env=', known.map((line) => `--env=${line}`), lists],
  ['env get ', known, lists],
  ['env get b', known.slice(3), lists],
])('%s: what the gateway has', async (typed, candidates, paths) => {
  expect(await complete(typed)).toEqual({ exitCode: 0, stdout: `${candidates.join('\n')}\n`, stderr: '' });
  const asked = service.lines().map((line) => paths.find((path) => line.endsWith(path)));
  expect(asked.sort()).toEqual([...paths].sort());
});

test('a gateway that is not there, hangs, or answers with a page of something else is not waited for, nor told of', async () => {
  const nothing = { exitCode: 0, stdout: '', stderr: '' };
  expect(await complete('session show ', { SALLYPORT_BASE_URL: 'http://127.0.0.1:9' })).toEqual(nothing);
  answering = () => ({ body: '<html>' });
  expect(await complete('session show ')).toEqual(nothing);
  answering = () => ({ status: 503, headers: { 'retry-after': '60' }, body: { error: 'unavailable' } });
  expect(await complete('session show ')).toEqual(nothing);
  // The process ends though no answer ever comes.
  answering = () => undefined;
  expect(await complete('session show ', {}, runCli)).toEqual(nothing);
  expect(await complete('session show ', { SALLYPORT_TOKEN: 'secret' })).toEqual(nothing);
});

test('a login that has run out is not renewed by a Tab', async () => {
  storeLogin(cwd, service.baseUrl, { expiresAt: Date.now(), refreshToken: 'r' });
  expect(await complete('session show ')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
  expect(service.seen).toEqual([]);
});
