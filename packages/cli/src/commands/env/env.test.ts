import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runHere } from '../../testing/cli.ts';
import { startService, type Answer, type Seen, type Service } from '../../testing/service.ts';

const organization = '0b6f7a52-8d5e-4b5e-9d3f-000000000001';
let cwd: string;
let service: Service;
let answerTo: (request: Seen) => Answer;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-env-'));
  service = await startService((request) => answerTo(request));
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

/** But for the lists, in which a name or an id like the given one is looked for. */
const asked = () => service.lines().filter((line) => !line.includes('limit='));
const run = (...args: string[]) =>
  runHere(args, {
    cwd,
    env: {
      SALLYPORT_BASE_URL: service.baseUrl,
      SALLYPORT_TOKEN: 'secret',
      SALLYPORT_ORG: organization,
      DO_NOT_TRACK: '1',
    },
  });

const environment = (id: string, more: object = {}) => ({
  id,
  machine_name: 'build-1',
  directory: '/srv',
  metadata: { os: 'linux' },
  created_at: '2020-01-02T03:04:05.000Z',
  updated_at: '2020-01-02T03:04:05.000Z',
  archived_at: null,
  ...more,
});
const notFound: Answer = {
  status: 404,
  body: {
    error: 'not_found',
    error_description: 'There is no environment env_0000000000000000000000000X.',
    request_id: 'req_1',
  },
};

const bridge = (environment_id: string, more: object = {}) => ({
  environment_id,
  ...{ machine_name: 'laptop', directory: '/src', metadata: {}, worker_type: 'cowork', status: 'online' },
  ...{ last_seen_at: '2020-01-01T00:00:00.000Z', active_sessions: 1 },
  ...more,
});
const isBridges = ({ url }: Seen) => url.includes('/environment_providers/');

/** Both of the service's lists, as they are on one page. */
const lists =
  (bridges: readonly object[], managed: readonly object[]) =>
  (request: Seen): Answer => ({
    body: isBridges(request) ? { environments: bridges, has_more: false } : managed,
  });
const ids = (stdout: string) => stdout.split('\n').map((line) => line.split(' ')[0]);

describe('env list', () => {
  test('shows all that a session can run on, once each, what can be used first', async () => {
    const tags = { metadata: { tags: ['linux', 'gpu'] } };
    answerTo = lists(
      [
        bridge('env_a', { status: 'offline' }),
        bridge('env_b', tags),
        bridge('env_c', { machine_name: 'build-1' }),
      ],
      [
        environment('env_c'),
        environment('env_d'),
        environment('env_e', { archived_at: '2021-01-01T00:00:00.000Z' }),
      ],
    );
    const { exitCode, stdout, stderr } = await run('env', 'list');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toBe(
      [
        'ID     NAME     KIND     STATE     LAST SEEN   SESSIONS  TAGS       DIRECTORY',
        'env_b  laptop   bridge   online    2020-01-01  1         linux,gpu  /src',
        'env_c  build-1  managed  online    2020-01-01  1         -          /srv',
        'env_d  build-1  managed  offline   -           -         -          /srv',
        'env_a  laptop   bridge   offline   2020-01-01  1         -          /src',
        'env_e  build-1  managed  archived  -           -         -          /srv',
        '',
      ].join('\n'),
    );
    expect(service.seen.find(isBridges)?.url).toBe(
      `/v1/environment_providers/private/organizations/${organization}/environments?limit=1000`,
    );
    expect(service.seen.find((request) => !isBridges(request))?.headers['vendor-beta']).toBe(
      'managed-agents-2026-04-01',
    );
    const listed = JSON.parse((await run('env', 'list', '--json', '--state', 'online')).stdout) as object[];
    expect(listed).toMatchObject([
      { id: 'env_b', environment_id: 'env_b', kind: 'bridge', state: 'online', tags: ['linux', 'gpu'] },
      { id: 'env_c', environment_id: 'env_c', kind: 'managed', created_at: '2020-01-02T03:04:05.000Z' },
    ]);
  });

  test.each([
    [
      ['--kind', 'bridge'],
      ['env_b', 'env_a'],
    ],
    [
      ['--state', 'offline,archived'],
      ['env_a', 'env_c'],
    ],
    [['--online'], ['env_b']],
    [['--tag', 'linux', '--tag', 'gpu'], ['env_b']],
    [
      ['--name', 'LAP'],
      ['env_b', 'env_a'],
    ],
  ])('%j', async (options, wanted) => {
    answerTo = lists(
      [bridge('env_a', { status: 'offline' }), bridge('env_b', { metadata: { tags: ['gpu', 'linux'] } })],
      options.includes('--name') ? [] : [environment('env_c', { archived_at: '2021-01-01T00:00:00.000Z' })],
    );
    const { stdout } = await run('env', 'list', ...options);
    expect(ids(stdout)).toEqual(['ID', ...wanted, '']);
    const asked = service.lines().find((line) => line.startsWith('GET /v1/environments?'));
    expect(asked).toBe(`GET /v1/environments?limit=1000${options.includes('--name') ? '&name=LAP' : ''}`);
  });

  test('follows the pages of both, and no further than one looks', async () => {
    answerTo = (request) => {
      const at = Number(new URL(request.url, service.baseUrl).searchParams.get('offset') ?? '0');
      const headers = { link: `</elsewhere?offset=${at + 1}>; rel="next"` };
      return isBridges(request)
        ? { body: { environments: [bridge(`env_b${at}`)], has_more: at < 1 }, ...(at < 1 && { headers }) }
        : { body: [environment(`env_m${at}`)], headers };
    };
    const { stdout } = await run('env', 'list', '--all', '--json');
    const listed = (JSON.parse(stdout) as { id: string }[]).map(({ id }) => id);
    expect(listed.slice(0, 3)).toEqual(['env_b0', 'env_b1', 'env_m0']);
    expect(listed).toHaveLength(12);
  });

  test('--limit takes the first and says that there are more', async () => {
    answerTo = lists([], [environment('env_0'), environment('env_1'), environment('env_2')]);
    const { stdout, stderr } = await run('env', 'list', '--limit', '2', '--json');
    expect((JSON.parse(stdout) as { id: string }[]).map(({ id }) => id)).toEqual(['env_0', 'env_1']);
    expect(stderr).toBe('There are more than these 2: see them with --all.\n');
    expect(await run('env', 'list', '--limit', '2', '--all')).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining("'--all' cannot be used with") as string,
    });
    expect((await run('env', 'list', '--state', 'gone')).stderr).toContain(
      'Allowed choices are online, disconnected, offline, archived.',
    );
  });

  test("says whose they are once one is somebody else's: of a bridge whose it is, else who created it", async () => {
    const [ann, bob] = [
      { account: { id: 'a1', email: 'ann@example.com' } },
      { account: { id: 'b1', email: 'bob@example.com' } },
    ];
    answerTo = lists(
      [bridge('env_a', ann), bridge('env_b', bob)],
      [environment('env_b', ann), environment('env_c', { account: { id: 'g1', email: null } })],
    );
    const { stdout } = await run('env', 'list');
    const column = stdout.split('\n').map((line) => line.split(/ {2,}/)[2]);
    expect(column).toEqual(['WHOSE', 'ann@example.com', 'bob@example.com', 'g1', undefined]);
  });

  test('says what to do where there is none; a service without managed ones has those of bridges', async () => {
    const none = lists([], []);
    answerTo = (request) => (request.url.endsWith('/current_user_access') ? notFound : none(request));
    expect((await run('env', 'list')).stdout).toMatch(/sallyport bridge run[^]*sallyport env create/);
    expect((await run('env', 'list', '--name', 'x')).stdout).toBe(
      'No environment matches.\nSee all: sallyport env list --all\n',
    );
    answerTo = none;
    expect((await run('env', 'list', '--json')).stdout).toBe('[]\n');
    answerTo = (request) => (isBridges(request) ? lists([bridge('env_a')], [])(request) : notFound);
    expect(ids((await run('env', 'list')).stdout)).toEqual(['ID', 'env_a', '']);
  });
});

test('session list follows its pages, too', async () => {
  const session = (id: string) => ({
    ...{ id, title: 't', environment_id: 'env_1', work_id: 'work_1', status: 'done', tags: [] },
    ...{ created_at: '2020-01-01T00:00:00.000Z', updated_at: '2020-01-01T00:00:00.000Z' },
  });
  answerTo = ({ url }) =>
    url.includes('offset')
      ? { body: [session('session_2')] }
      : { body: [session('session_1')], headers: { link: '<?offset=x>; rel="next"' } };
  const { stdout } = await run('session', 'list', '--all', '--json');
  expect((JSON.parse(stdout) as { id: string }[]).map(({ id }) => id)).toEqual(['session_1', 'session_2']);
});

test('env create sends name, directory and metadata once, and prints the id', async () => {
  answerTo = () => ({ status: 201, body: environment('env_00000000000000000000000001') });
  const args = ['--name', 'build-1', '--dir', './srv', '--metadata', 'os=linux', '--metadata', 'a=b=c'];
  expect(await run('env', 'create', ...args)).toEqual({
    exitCode: 0,
    stdout: 'env_00000000000000000000000001\n',
    stderr:
      "Give it a bridge, on its machine and in its directory: sallyport bridge run --env env_00000000000000000000000001 --exec 'CMD'\n",
  });
  expect(service.seen).toMatchObject([
    {
      method: 'POST',
      url: '/v1/environments',
      body: { machine_name: 'build-1', directory: './srv', metadata: { os: 'linux', a: 'b=c' } },
    },
  ]);
  expect(service.seen[0]?.headers['idempotency-key']).toMatch(/^[\da-f-]{36}$/);
});

test.each([
  [['create', '--name', 'x'], "Required option '--dir <directory>' not specified."],
  [['create', '--name', 'x', '--dir', '/', '--metadata', 'os'], '--metadata needs KEY=VALUE, not "os".'],
  [['update', 'env_00000000000000000000000001'], 'Nothing to change was given.'],
  [['delete', 'env_00000000000000000000000001'], 'There is no terminal to ask for confirmation.'],
])('env %j is wrong usage', async (args, message) => {
  const { exitCode, stdout, stderr } = await run('env', ...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(`error: ${message}\n`);
  expect(service.seen).toEqual([]);
});

test.each([
  ['there is none', notFound, 4],
  [
    'it is archived',
    { body: environment('env_0000000000000000000000000X', { archived_at: '2021-01-01T00:00:00.000Z' }) },
    5,
  ],
] as const)('bridge run --env registers nothing where %s', async (_, answer, code) => {
  answerTo = ({ url }) =>
    url === '/v1/environments/env_0000000000000000000000000X' ? answer : { status: 500, body: {} };
  const { exitCode, stderr } = await run(
    'bridge',
    'run',
    '--env',
    'env_0000000000000000000000000X',
    '--exec',
    'true',
  );
  expect(exitCode, stderr).toBe(code);
  expect(stderr).toContain('sallyport env list');
  expect(asked()).toEqual(['GET /v1/environments/env_0000000000000000000000000X']);
});

test('env get shows the record, and what to do where there is none', async () => {
  answerTo = () => ({
    body: environment('env_00000000000000000000000001', {
      archived_at: '2021-01-01T00:00:00.000Z',
      account: { id: 'a1', email: 'ann@example.com' },
    }),
  });
  expect((await run('env', 'get', 'env_00000000000000000000000001')).stdout).toBe(
    [
      'Environment:  env_00000000000000000000000001',
      'State:        archived',
      'Name:         build-1',
      'Directory:    /srv',
      'Metadata:     {"os":"linux"}',
      'Created by:   ann@example.com',
      'Created:      2020-01-02T03:04:05.000Z (2020-01-02)',
      'Updated:      2020-01-02T03:04:05.000Z (2020-01-02)',
      'Archived:     2021-01-01T00:00:00.000Z (2021-01-01)',
      '',
    ].join('\n'),
  );
  answerTo = () => notFound;
  const { exitCode, stderr } = await run('env', 'get', 'env_0000000000000000000000000X');
  expect(exitCode).toBe(4);
  expect(stderr).toBe(
    'error: There is no environment env_0000000000000000000000000X.\nSee which there are: sallyport env list --all\n',
  );
});

test('env update sends what is given, null for what is unset', async () => {
  answerTo = () => ({ body: environment('env_00000000000000000000000001') });
  const { exitCode } = await run(
    'env',
    'update',
    'env_00000000000000000000000001',
    '--dir',
    '/b',
    '--metadata',
    'a=1',
    '--unset',
    'os',
  );
  expect(exitCode).toBe(0);
  expect(service.seen).toMatchObject([
    { method: 'POST', url: '/v1/environments/env_00000000000000000000000001' },
  ]);
  expect(service.seen[0]?.body).toEqual({ directory: '/b', metadata: { a: '1', os: null } });
});

test('env archive; a second time is a conflict', async () => {
  answerTo = () => ({ body: environment('env_00000000000000000000000001') });
  expect(await run('env', 'archive', 'env_00000000000000000000000001')).toEqual({
    exitCode: 0,
    stdout: 'Environment env_00000000000000000000000001 is archived.\n',
    stderr: '',
  });
  expect(service.seen).toMatchObject([
    { method: 'POST', url: '/v1/environments/env_00000000000000000000000001/archive' },
  ]);
  const body = { error: 'already_archived', error_description: 'It is archived.', request_id: 'r' };
  answerTo = () => ({ status: 409, body });
  expect(await run('env', 'archive', 'env_00000000000000000000000001')).toMatchObject({
    exitCode: 5,
    stderr: expect.stringContaining('sallyport env delete') as string,
  });
});

test('env delete goes on after one that is not there', async () => {
  answerTo = ({ url }) =>
    url.endsWith('env_0000000000000000000000000X')
      ? notFound
      : { body: { id: 'env_00000000000000000000000001', deleted: true } };
  const { exitCode, stdout, stderr } = await run(
    'env',
    'delete',
    'env_0000000000000000000000000X',
    'env_00000000000000000000000001',
    '--yes',
  );
  expect({ exitCode, stdout }).toEqual({
    exitCode: 4,
    stdout: 'Environment env_00000000000000000000000001 is deleted.\n',
  });
  expect(stderr).toContain('There is no environment env_0000000000000000000000000X.');
  expect(asked()).toEqual([
    'DELETE /v1/environments/env_0000000000000000000000000X',
    'DELETE /v1/environments/env_00000000000000000000000001',
  ]);
});
