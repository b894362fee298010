import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runHere } from '../testing/cli.ts';
import { environmentAt, startService, type Service } from '../testing/service.ts';

const at = '2020-01-01T00:00:00.000Z';
const bridge = (environment_id: string, machine_name: string, status = 'online') => ({
  ...{ environment_id, machine_name, directory: '/src', metadata: {}, worker_type: 'cowork', status },
  ...{ last_seen_at: at, active_sessions: 0 },
});
const [laptop, desk, other] = ['env_01KAAAB', 'env_01KAAAC', 'env_01KZZZZ'] as const;

let cwd: string;
let service: Service;
let bridges: ReturnType<typeof bridge>[];
/** Whether the service knows whatever environment it is asked about. */
let isThere: boolean;
/** What the account may do, if the service says so. */
let access: object | undefined;
beforeEach(async () => {
  access = undefined;
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-named-'));
  isThere = true;
  bridges = [bridge(laptop, 'Laptop'), bridge(desk, 'desk', 'offline'), bridge(other, 'desk')];
  service = await startService(({ url }) => {
    if (url.includes('/environment_providers/')) return { body: { environments: bridges, has_more: false } };
    if (url.startsWith('/v1/environments?')) return { body: [] };
    if (url.endsWith('/current_user_access')) return access ? { body: access } : { status: 404 };
    if (!isThere)
      return { status: 404, body: { error: 'not_found', error_description: 'No such environment.' } };
    const [, id = ''] = /^\/v1\/environments\/([^/]+)/.exec(url) ?? [];
    // Archived, so that no bridge starts for it.
    return { body: { id, machine_name: 'm', directory: '/', metadata: {}, archived_at: at } };
  });
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

test.each(['session run look', 'session run look --env tag:gpu', 'env list'])(
  '%s: without an environment, who may start no bridge is told whom to ask',
  async (command) => {
    bridges = [];
    const env = environmentAt(service);
    const said = async () => {
      const { stdout, stderr } = await runHere(command.split(' '), { cwd, env });
      return (stderr || stdout).trim().split('\n').at(1);
    };
    // Where the service does not say what one may do, as before.
    expect(await said()).toMatch(/^Start a bridge.*: sallyport bridge run /);
    access = { access_level: 'member', permissions: ['read', 'write'] };
    expect(await said()).toMatch(/^Start a bridge.*: sallyport bridge run /);
    access = { access_level: 'viewer', permissions: ['read'] };
    expect(await said()).toBe(
      'Ask a member or an admin of the organization to start a bridge: this account is a viewer there.',
    );
  },
);

const get = (given: string) => runHere(['env', 'get', given, '--json'], { cwd, env: environmentAt(service) });
const looked = () => service.lines().filter((line) => line.includes('limit='));

test.each([
  [laptop, laptop],
  ['env_01KAAAB', laptop],
  ['01kaaab', laptop],
  ['01KZ', other],
  ['Laptop', laptop],
  ['laptop', laptop],
  // In no list, as one that was not seen for a week: the service knows.
  ['env_01JOLD', 'env_01JOLD'],
])('%s means %s', async (given, id) => {
  const { exitCode, stdout } = await get(given);
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { id }]);
  expect(looked()).toHaveLength(2);
});

const typo = `env_${'0'.repeat(25)}1`;

test.each([
  `env get ${typo}`,
  `env update ${typo} --name x`,
  `env archive ${typo}`,
  `env delete ${typo} --yes`,
  `session run look --env ${typo}`,
  `bridge unregister ${typo} --yes`,
  `bridge run --env ${typo} --exec true`,
])('%s: of an id that there is not, the nearest is named', async (command) => {
  isThere = false;
  const meant = `env_${'0'.repeat(26)}`;
  bridges.push(bridge(meant, 'build'));
  const { exitCode, stderr } = await runHere(command.split(' '), { cwd, env: environmentAt(service) });
  expect([exitCode, stderr]).toEqual([
    4,
    expect.stringMatching(new RegExp(`^error: No such environment. Did you mean ${meant}\\?\nSee `)),
  ]);
});

test('a whole id is looked up nowhere', async () => {
  const id = `env_${'0'.repeat(26)}`;
  expect(JSON.parse((await get(id)).stdout)).toMatchObject({ id });
  expect(service.lines()).toEqual([`GET /v1/environments/${id}`]);
});

test.each(['01KA', 'desk'])('%s means several, which are shown', async (given) => {
  const { exitCode, stdout, stderr } = await get(given);
  expect(exitCode).toBe(2);
  const candidates = given === 'desk' ? [other, desk] : [laptop, desk];
  expect(JSON.parse(stdout)).toMatchObject({ error: 'ambiguous', candidates });
  expect(stderr).toMatch(
    new RegExp(
      `error: "${given}" may be one of several environments:\nID +NAME +STATE +DIRECTORY\nenv_01K.*\nenv_01K.*\nName one`,
    ),
  );
});

test.each(['env_01KAAAB', '01KAAAB', 'env_01KAAA'])(
  'a machine that is called %s is not taken for the one whose id begins so',
  async (name) => {
    bridges.push(bridge('env_01KEVIL', name));
    const { exitCode, stdout, stderr } = await get(name);
    // A whole id is one; else the person says which.
    if (name === laptop) expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { id: laptop }]);
    else expect([exitCode, stderr]).toEqual([2, expect.stringContaining('may be one of several')]);
  },
);

test.each([
  [
    'laptob',
    'error: There is no environment "laptob". Did you mean "Laptop"?\nSee which there are: sallyport env list\n',
  ],
  // Too short to be the beginning of an id that a person means.
  ['01K', 'error: There is no environment "01K".\nSee which there are: sallyport env list\n'],
])('%s is none', async (given, said) => {
  expect(await get(given)).toMatchObject({ exitCode: 4, stderr: said });
  expect(looked()).toEqual(service.lines());
});

test.each([
  ['env update laptop --name x', `POST /v1/environments/${laptop}`],
  ['env archive laptop', `POST /v1/environments/${laptop}/archive`],
  ['env delete laptop 01KAAAB --yes', `DELETE /v1/environments/${laptop}`],
  ['bridge unregister laptop --yes', `DELETE /v1/environments/bridge/${laptop}`],
  ['bridge run --env laptop --exec true', `GET /v1/environments/${laptop}`],
])('%s', async (command, line) => {
  await runHere(command.split(' '), { cwd, env: environmentAt(service) });
  expect(service.lines().find((each) => !each.includes('limit='))).toBe(line);
});
