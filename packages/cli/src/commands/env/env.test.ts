import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCli } from '../../testing/cli.ts';
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

const run = (...args: string[]) =>
  runCli(args, {
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
  body: { error: 'not_found', error_description: 'There is no environment env_x.', request_id: 'req_1' },
};

describe('env list', () => {
  /** Three pages of one item. */
  const paged = ({ url }: Seen): Answer => {
    const at = Number(new URL(url, service.baseUrl).searchParams.get('offset') ?? '0');
    const body = [environment(`env_${at}`, at === 1 ? { archived_at: '2021-01-01T00:00:00.000Z' } : {})];
    return { body, ...(at < 2 && { headers: { link: `</elsewhere?offset=${at + 1}>; rel="next"` } }) };
  };

  test('--all follows the pages', async () => {
    answerTo = paged;
    const { exitCode, stdout, stderr } = await run('env', 'list', '--all', '--name', 'build 1');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toBe(
      [
        'ID     STATE     CREATED     NAME     DIRECTORY',
        'env_0  active    2020-01-02  build-1  /srv',
        'env_1  archived  2020-01-02  build-1  /srv',
        'env_2  active    2020-01-02  build-1  /srv',
        '',
      ].join('\n'),
    );
    expect(service.seen.map(({ url }) => url)).toEqual([
      '/v1/environments?limit=1000&name=build+1',
      '/v1/environments?limit=1000&name=build+1&offset=1',
      '/v1/environments?limit=1000&name=build+1&offset=2',
    ]);
    expect(service.seen[0]?.headers['vendor-beta']).toBe('managed-agents-2026-04-01');
  });

  test('--limit takes the first and says that there are more', async () => {
    answerTo = paged;
    const { stdout, stderr } = await run('env', 'list', '--limit', '2', '--json');
    expect((JSON.parse(stdout) as { id: string }[]).map(({ id }) => id)).toEqual(['env_0', 'env_1']);
    expect(stderr).toBe('There are more than these 2: see them with --all.\n');
    expect(await run('env', 'list', '--limit', '2', '--all')).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining("'--all' cannot be used with") as string,
    });
  });

  test('says what to do where there is none', async () => {
    answerTo = () => ({ body: [] });
    expect((await run('env', 'list')).stdout).toContain('sallyport env create');
    expect((await run('env', 'list', '--name', 'x')).stdout).toBe(
      'No managed environment has "x" in its name.\n',
    );
    expect((await run('env', 'list', '--json')).stdout).toBe('[]\n');
  });

  test('--online shows those that have a bridge now, of all pages', async () => {
    const bridge = (environment_id: string, status: string) => ({
      environment_id,
      ...{ machine_name: 'm', directory: '/d', metadata: {}, worker_type: 'cowork', status },
      ...{ last_seen_at: '2020-01-01T00:00:00.000Z', active_sessions: 1 },
    });
    answerTo = ({ url }) =>
      url.includes('offset')
        ? { body: { environments: [bridge('env_c', 'online')], has_more: false } }
        : {
            body: { environments: [bridge('env_a', 'online'), bridge('env_b', 'offline')], has_more: true },
            headers: { link: '<?offset=2>; rel="next"' },
          };
    const { stdout } = await run('env', 'list', '--online');
    expect(stdout.split('\n').map((line) => line.split(' ')[0])).toEqual(['ID', 'env_a', 'env_c', '']);
    expect(service.seen[0]?.url).toBe(
      `/v1/environment_providers/private/organizations/${organization}/environments?limit=1000`,
    );
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
  answerTo = () => ({ status: 201, body: environment('env_1') });
  const args = ['--name', 'build-1', '--dir', './srv', '--metadata', 'os=linux', '--metadata', 'a=b=c'];
  expect(await run('env', 'create', ...args)).toEqual({
    exitCode: 0,
    stdout: 'env_1\n',
    stderr:
      "Give it a bridge, on its machine and in its directory: sallyport bridge run --env env_1 --exec 'CMD'\n",
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
  [['update', 'env_1'], 'Nothing to change was given.'],
  [['delete', 'env_1'], 'There is no terminal to ask for confirmation.'],
])('env %j is wrong usage', async (args, message) => {
  const { exitCode, stdout, stderr } = await run('env', ...args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain(`error: ${message}\n`);
  expect(service.seen).toEqual([]);
});

test.each([
  ['there is none', notFound, 4],
  ['it is archived', { body: environment('env_x', { archived_at: '2021-01-01T00:00:00.000Z' }) }, 5],
] as const)('bridge run --env registers nothing where %s', async (_, answer, code) => {
  answerTo = ({ url }) => (url === '/v1/environments/env_x' ? answer : { status: 500, body: {} });
  const { exitCode, stderr } = await run('bridge', 'run', '--env', 'env_x', '--exec', 'true');
  expect(exitCode, stderr).toBe(code);
  expect(stderr).toContain('sallyport env list');
  expect(service.lines()).toEqual(['GET /v1/environments/env_x']);
});

test('env get shows the record, and what to do where there is none', async () => {
  answerTo = () => ({ body: environment('env_1', { archived_at: '2021-01-01T00:00:00.000Z' }) });
  expect((await run('env', 'get', 'env_1')).stdout).toBe(
    [
      'Environment:  env_1',
      'State:        archived',
      'Name:         build-1',
      'Directory:    /srv',
      'Metadata:     {"os":"linux"}',
      'Created:      2020-01-02T03:04:05.000Z (2020-01-02)',
      'Updated:      2020-01-02T03:04:05.000Z (2020-01-02)',
      'Archived:     2021-01-01T00:00:00.000Z (2021-01-01)',
      '',
    ].join('\n'),
  );
  answerTo = () => notFound;
  const { exitCode, stderr } = await run('env', 'get', 'env_x');
  expect(exitCode).toBe(4);
  expect(stderr).toBe(
    'error: There is no environment env_x.\nSee which there are: sallyport env list, or sallyport env list --online\n',
  );
});

test('env update sends what is given, null for what is unset', async () => {
  answerTo = () => ({ body: environment('env_1') });
  const { exitCode } = await run(
    'env',
    'update',
    'env_1',
    '--dir',
    '/b',
    '--metadata',
    'a=1',
    '--unset',
    'os',
  );
  expect(exitCode).toBe(0);
  expect(service.seen).toMatchObject([{ method: 'POST', url: '/v1/environments/env_1' }]);
  expect(service.seen[0]?.body).toEqual({ directory: '/b', metadata: { a: '1', os: null } });
});

test('env archive; a second time is a conflict', async () => {
  answerTo = () => ({ body: environment('env_1') });
  expect(await run('env', 'archive', 'env_1')).toEqual({
    exitCode: 0,
    stdout: 'Environment env_1 is archived.\n',
    stderr: '',
  });
  expect(service.seen).toMatchObject([{ method: 'POST', url: '/v1/environments/env_1/archive' }]);
  const body = { error: 'already_archived', error_description: 'It is archived.', request_id: 'r' };
  answerTo = () => ({ status: 409, body });
  expect(await run('env', 'archive', 'env_1')).toMatchObject({
    exitCode: 5,
    stderr: expect.stringContaining('sallyport env delete') as string,
  });
});

test('env delete goes on after one that is not there', async () => {
  answerTo = ({ url }) => (url.endsWith('env_x') ? notFound : { body: { id: 'env_1', deleted: true } });
  const { exitCode, stdout, stderr } = await run('env', 'delete', 'env_x', 'env_1', '--yes');
  expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: 'Environment env_1 is deleted.\n' });
  expect(stderr).toContain('There is no environment env_x.');
  expect(service.lines()).toEqual(['DELETE /v1/environments/env_x', 'DELETE /v1/environments/env_1']);
});
