import type { Session } from '@sallyport/core/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Context } from '../../context.ts';
import type { Output } from '../../io/terminal.ts';
import { testContext } from '../../testing/context.ts';
import { startService, type Answer, type Service } from '../../testing/service.ts';
import { testSession } from '../../testing/session.ts';
import { sessionList, type SessionListOptions } from './list.ts';
import { sessionShow } from './show.ts';

const organization = '0b6f7a52-8d5e-4b5e-9d3f-000000000001';
const [ann, bob] = ['aaaaaaaa-8d5e-4b5e-9d3f-000000000001', 'bbbbbbbb-8d5e-4b5e-9d3f-000000000002'] as const;

const session = (id: string, account?: Session['account']) =>
  testSession({ id, title: 'Fix it', status: 'queued', ...(account && { account }) });
const mine = session('session_1', { id: ann, email: 'ann@example.com' });
const known = session('session_2', { id: bob, email: 'bob@example.com' });
const unknown = session('session_3', { id: bob });
const gone = session('session_4', { id: bob, email: null });

let service: Service;
let answers: Record<string, Answer>;
beforeEach(async () => {
  answers = { 'GET /api/bootstrap': { body: { account: { uuid: ann, memberships: [] } } } };
  service = await startService(answers);
});
afterEach(() => service.close());

/** A command's output at the service, for a token that stands for `ann`. */
async function at(
  command: (context: Context) => Promise<Output>,
  { json = false, columns = 0 } = {},
): Promise<{ readonly human: string; readonly json: unknown }> {
  const { context, text } = testContext({ json, columns });
  const token = 'secret';
  const ends: (() => unknown)[] = [];
  const output = await command({
    ...context,
    settings: { ...context.settings, baseUrl: service.baseUrl, organization, token },
    env: { SALLYPORT_TOKEN: token, DO_NOT_TRACK: '1' },
    onEnd: (end) => void ends.push(end),
  }).finally(() => Promise.all(ends.map((end) => end())));
  expect(text().stderr).toBe('');
  return { human: output.human, json: output.json };
}

const list = (
  options: Partial<SessionListOptions> & { readonly json?: boolean; readonly columns?: number } = {},
) => at((context) => sessionList(context, { limit: 20, status: [], ...options }), options);
const show = (id: string) => at((context) => sessionShow(context, {}, id));

/** The list's answer, with the filter and without. */
function lists(sessions: readonly Session[], filtered: readonly Session[] = sessions): void {
  answers['GET /v1/sessions?limit=21'] = { body: sessions };
  answers[`GET /v1/sessions?limit=21&account_id=${ann}`] = { body: filtered };
}

test('who started sessions is in the list once somebody else did: by e-mail address, or by id where no more is told', async () => {
  lists([mine, known, unknown, gone]);
  const { human } = await list();
  const column = human.split('\n').map((line) => line.split(/ {2,}/)[4]);
  expect(column).toEqual(['STARTED BY', 'ann@example.com', 'bob@example.com', bob, bob]);
  lists([known]);
  expect((await list()).human).toContain('STARTED BY');
  // The document is the service's, whoever reads it.
  lists([mine, unknown]);
  expect((await list({ json: true })).json).toEqual([mine, unknown]);
});

const header = /^ID +STATUS +CREATED +ENVIRONMENT +TITLE\n/;

test('who works alone, or with a service that does not tell, has a column less', async () => {
  lists([mine]);
  expect((await list()).human).toMatch(header);
  lists([session('session_1'), session('session_2')]);
  expect((await list()).human).toMatch(header);
  expect(service.lines().filter((line) => line === 'GET /api/bootstrap')).toHaveLength(1);
});

test('a terminal has each line as wide as it is, with ids whole and long titles short; a pipe has all of them', async () => {
  const title = 'Make the login work again '.repeat(20);
  lists([{ ...known, title }]);
  const { human } = await list({ columns: 80 });
  expect(Math.max(...human.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(human).toMatch(/^ID .*STARTED BY\n {2}TITLE\nsession_2 .*bob@example.com\n {2}Make the .*…$/);
  expect((await list()).human).toContain(title.trim());
});

test('a list stands without a word of who calls', async () => {
  lists([mine]);
  answers['GET /api/bootstrap'] = { status: 400, body: { error: 'invalid_request' } };
  expect((await list()).human).toContain('ann@example.com');
});

test('--mine asks for one’s own, and leaves out what a service gives that does not know the filter', async () => {
  lists([], [mine, known]);
  const { human, json } = await list({ mine: true });
  expect(human).toMatch(/^ID +STATUS +CREATED +ENVIRONMENT +TITLE\nsession_1 .*$/);
  expect(json).toEqual([mine]);
  lists([known], []);
  expect((await list({ mine: true })).human).toMatch(/^No sessions of yours yet\.\n/);
});

test('--by asks for those of an address, in either case, and leaves out what was not asked for', async () => {
  answers['GET /v1/sessions?limit=21&account_email=Bob%40example.com'] = { body: [mine, known, gone] };
  expect((await list({ by: 'Bob@example.com', json: true })).json).toEqual([known]);
  answers['GET /v1/sessions?limit=21&account_email=eve%40example.com'] = { body: [] };
  expect((await list({ by: 'eve@example.com' })).human).toMatch(/^No session matches\.\n/);
  lists([], [mine, known]);
  expect((await list({ by: 'me', json: true })).json).toEqual([mine]);
  // A service that names ids alone cannot say whose they are.
  answers['GET /v1/sessions?limit=21&account_email=ann%40example.com'] = { body: [unknown] };
  await expect(list({ by: 'ann@example.com' })).rejects.toMatchObject({ code: 'unknown_account' });
});

test('a filter is the service’s to apply, and what one gives that does not know it is left out', async () => {
  const env = `env_${'0'.repeat(26)}`;
  const wanted = testSession({ id: 'session_5', status: 'running', environment_id: env, tags: ['ci', 'x'] });
  const body = [
    mine,
    { ...wanted, id: 'session_6', tags: [] },
    { ...wanted, id: 'session_7', status: 'done' },
    wanted,
  ];
  const query = `limit=21&environment_id=${env}&status=running%2Cqueued&tag=ci`;
  answers[`GET /v1/sessions?${query}`] = { body };
  const options: Partial<SessionListOptions> = { env, status: ['running', 'queued'], tag: 'ci' };
  expect((await list({ ...options, json: true })).json).toEqual([wanted]);
  expect(service.lines()).toEqual([`GET /v1/sessions?${query}`]);
  answers[`GET /v1/sessions?${query}`] = { body: [] };
  expect((await list(options)).human).toBe('No session matches.\nSee all: sallyport session list');
});

test.each(['the sessions', 'the caller'])(
  '--mine of a service that does not name %s is refused, with what to do',
  async (whose) => {
    lists([mine], whose === 'the sessions' ? [session('session_1')] : [mine]);
    if (whose === 'the caller') delete answers['GET /api/bootstrap'];
    await expect(list({ mine: true })).rejects.toMatchObject({
      message: 'This service does not say who started its sessions.',
      exitCode: 1,
      nextStep: 'See those of all: sallyport session list',
    });
  },
);

test.each([
  ['its e-mail address', 'ann@example.com', mine],
  ['its id', bob, unknown],
  ['the id of one that is gone', bob, gone],
])('show says who started it, by %s', async (_, who, shown) => {
  answers[`GET /v1/sessions/${shown.id}`] = { body: shown };
  expect((await show(shown.id)).human).toMatch(new RegExp(`\nStarted by: +${who}\n`));
});

test('show has no such line where the service does not tell', async () => {
  answers['GET /v1/sessions/session_1'] = { body: session('session_1') };
  expect((await show('session_1')).human).not.toContain('Started by');
});
