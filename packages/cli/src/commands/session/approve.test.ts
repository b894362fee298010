import type { ServerResponse } from 'node:http';
import type { SessionEvent, SessionStatus } from '@sallyport/core/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Context } from '../../context.ts';
import { reportFailure } from '../../io/failure.ts';
import { testContext } from '../../testing/context.ts';
import { startService, type Service } from '../../testing/service.ts';
import { testSession } from '../../testing/session.ts';
import { sessionApprove, type SessionApproveOptions } from './approve.ts';
import { sessionRequests } from './requests.ts';

const id = `session_${'A'.repeat(26)}`;
const other = `session_${'B'.repeat(26)}`;

let service: Service;
let logs: Map<string, SessionEvent[]>;
let status: SessionStatus;
let followers: ServerResponse[];
/** Who the service says has sent what the command sends. */
let caller: SessionEvent['account'];
/** What happens just before an answer arrives. */
let before: () => void;
beforeEach(async () => {
  logs = new Map([
    [id, []],
    [other, []],
  ]);
  status = 'running';
  followers = [];
  caller = undefined;
  before = () => undefined;
  service = await startService(({ method, url, body }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x');
    const [, sessionId = '', rest] = /^\/v1\/sessions\/([^/]+)(.*)$/.exec(pathname) ?? [];
    if (pathname === '/api/bootstrap') return { body: { account: { uuid: 'ann', memberships: [] } } };
    if (pathname === '/v1/sessions')
      return { body: [...logs.keys()].map((each) => testSession({ id: each, status: 'running' })) };
    const log = logs.get(sessionId);
    if (!log) return { status: 404, body: { error: 'not_found', error_description: 'No.' } };
    if (rest === '') return { body: testSession({ id: sessionId, status }) };
    if (method === 'POST') {
      before();
      const [{ id: eventId, type, data }] = (body as { events: [SessionEvent] }).events;
      const stored =
        log.find((each) => each.id === eventId) ??
        happens(type, data, { eventId, sessionId, account: caller });
      return { body: { events: [{ id: eventId, seq: stored.seq }] } };
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const from = Number(searchParams.get('from_seq') ?? '0');
    for (const event of log.filter(({ seq }) => seq > from)) response.write(frame(event));
    response.write(`event: caught_up\ndata: {"seq":${log.length}}\n\n`);
    followers.push(response);
    return undefined;
  });
});
afterEach(() => service.close());

const frame = (event: SessionEvent) => `id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
interface Happening {
  readonly eventId?: string | undefined;
  readonly sessionId?: string;
  readonly account?: SessionEvent['account'];
}
function happens(
  type: string,
  data: SessionEvent['data'],
  { eventId, sessionId = id, account }: Happening = {},
): SessionEvent {
  const log = logs.get(sessionId) ?? [];
  const seq = log.length + 1;
  const event = {
    ...{ id: eventId ?? `evt_${seq}`, seq, type, session_id: sessionId },
    ...{ created_at: '2020-01-01T00:00:00.000Z', data },
    ...(account && { account }),
  };
  log.push(event);
  for (const follower of followers) follower.write(frame(event));
  return event;
}
const asks = (request: string, sessionId = id) =>
  happens(
    'tool.permission_request',
    { request_id: request, tool: 'bash', description: `rm ${request}` },
    { sessionId },
  );
const answers = (request: string, behavior: string, more?: Happening) =>
  happens('control.permission_response', { request_id: request, behavior }, more);
const answered = () =>
  service.seen.flatMap(({ method, body }) =>
    method === 'POST' ? (body as { events: SessionEvent[] }).events : [],
  );

function running(act: (context: Context) => Promise<unknown>, json = false) {
  const { context, text } = testContext({ json });
  const ends: (() => unknown)[] = [];
  const over = act({
    ...context,
    settings: { ...context.settings, baseUrl: service.baseUrl, token: 'secret', organization },
    env: { SALLYPORT_TOKEN: 'secret', DO_NOT_TRACK: '1' },
    onEnd: (end) => void ends.push(end),
  })
    .catch((error: unknown) => reportFailure(error, context.terminal, {}))
    .finally(() => Promise.all(ends.map((end) => end())));
  return { over, text };
}
const organization = '0b6f7a52-8d5e-4b5e-9d3f-000000000001';
async function approve(options: SessionApproveOptions, json = false) {
  const { over, text } = running((context) => sessionApprove(context, options, id), json);
  return { exitCode: await over, ...text() };
}

test.each([
  [{ allow: true }, 'allow', 'Allowed: bash: rm a'],
  [{ deny: true }, 'deny', 'Refused: bash: rm a'],
])('%j answers the one that waits', async (options, behavior, said) => {
  asks('before');
  answers('before', 'deny');
  asks('a');
  expect(await approve(options)).toEqual({ exitCode: 0, stdout: `${said}\n`, stderr: '' });
  expect(answered()).toEqual([
    { id: 'answer_evt_3', type: 'control.permission_response', data: { request_id: 'a', behavior } },
  ]);
});

test('of several one has to be named', async () => {
  asks('a');
  asks('b');
  const { exitCode, stderr } = await approve({ allow: true });
  expect(exitCode).toBe(2);
  expect(stderr).toMatch(
    /waits for several answers:\nREQUEST +WANTS\na +bash: rm a\nb +bash: rm b\nName one: .* --request/,
  );
  expect(answered()).toEqual([]);
  const one = await approve({ deny: true, request: 'b' }, true);
  expect([one.exitCode, JSON.parse(one.stdout)]).toEqual([
    0,
    [{ session_id: id, request_id: 'b', behavior: 'deny', seq: 3 }],
  ]);
  expect(await approve({ deny: true, request: 'c' })).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining('a        bash: rm a') as string,
  });
});

test('who was slower than somebody else is told what counts', async () => {
  asks('a');
  before = () => void answers('a', 'deny', { eventId: 'answer_evt_1' });
  expect(await approve({ allow: true })).toMatchObject({
    exitCode: 0,
    stdout: 'Refused, by who answered before: bash: rm a\n',
  });
});

const member = (name: string) => ({ id: name, email: `${name}@example.com` });
const [ann, bob] = [member('ann'), member('bob')];

test.each([
  ['the same answer', 'allow', { eventId: 'answer_evt_1', account: bob }, 'Allowed, by bob@example.com who'],
  ['another answer', 'deny', { eventId: 'answer_evt_1', account: bob }, 'Refused, by bob@example.com who'],
  ['one of another client', 'deny', { account: bob }, 'Refused, by bob@example.com who'],
  ['one of the same account elsewhere', 'allow', { account: ann }, 'Allowed, by ann@example.com who'],
])('the first answer counts, and who gave it is said: %s', async (_, behavior, first, said) => {
  asks('a');
  caller = ann;
  let isFirst = true;
  before = () => {
    if (isFirst) answers('a', behavior, first);
    isFirst = false;
  };
  const { exitCode, stdout } = await approve({ allow: true });
  expect([exitCode, stdout]).toEqual([0, `${said} answered before: bash: rm a\n`]);
  const open = running((context) => sessionRequests(context, {}, id));
  expect(await open.over).toMatchObject({ json: [] });
});

test('--json says who gave the answer that counts', async () => {
  asks('a');
  caller = ann;
  const { stdout } = await approve({ allow: true }, true);
  const given = { session_id: id, request_id: 'a', behavior: 'allow', seq: 2, account: ann };
  expect(JSON.parse(stdout)).toEqual([given]);
});

test('an answer of one’s own is said to be nobody else’s', async () => {
  asks('a');
  caller = ann;
  expect((await approve({ deny: true })).stdout).toBe('Refused: bash: rm a\n');
});

test.each([
  ['of another kind', () => happens('session.message', { text: 'x' }, { eventId: 'answer_evt_1' })],
  ['that answers something else', () => answers('b', 'deny', { eventId: 'answer_evt_1', account: bob })],
])('an event %s under the answer’s id does not hold the answer up', async (_, taken) => {
  asks('a');
  taken();
  caller = ann;
  expect((await approve({ allow: true })).stdout).toBe('Allowed: bash: rm a\n');
  expect(logs.get(id)?.at(-1)).toMatchObject({
    type: 'control.permission_response',
    data: { request_id: 'a', behavior: 'allow' },
  });
  expect(answered().map((each) => each.id === 'answer_evt_1')).toEqual([true, false]);
});

test.each([
  ['nothing was asked', () => undefined, 4, 'waits for no answer'],
  ['who asked is gone', () => happens('worker.exited', { exit_code: 1 }), 4, 'waits for no answer'],
  ['it runs anew', () => happens('session.updated', { status: 'queued' }), 4, 'waits for no answer'],
  ['it has ended', () => (status = 'failed'), 5, 'has ended: failed'],
])('there is nothing to answer where %s', async (what, happened, exitCode, said) => {
  if (what !== 'nothing was asked') asks('a');
  happened();
  expect(await approve({ allow: true })).toMatchObject({
    exitCode,
    stderr: expect.stringContaining(said) as string,
  });
  expect(answered()).toEqual([]);
});

test.each([
  ['allow', bob, 'was allowed before, by bob@example.com.'],
  ['deny', undefined, 'was refused before.'],
])(
  'of a request that was answered before it is said how and by whom: %s',
  async (behavior, account, said) => {
    asks('a');
    answers('a', behavior, account && { account });
    answers('a', 'other', { account: ann });
    const unnamed = await approve({ allow: true });
    expect([unnamed.exitCode, unnamed.stderr]).toEqual([
      4,
      expect.stringContaining(`Session ${id} waits for no answer; request a ${said}\n`),
    ]);
    asks('b');
    answers('b', 'deny');
    asks('c');
    const { exitCode, stdout, stderr } = await approve({ allow: true, request: 'a' }, true);
    expect([exitCode, stderr]).toEqual([
      5,
      `error: Request a ${said}\nSee what waits: sallyport session requests ${id}\n`,
    ]);
    const answer = { session_id: id, request_id: 'a', behavior, seq: 2, ...(account && { account }) };
    expect(JSON.parse(stdout)).toMatchObject({ error: 'already_answered', answer });
    expect(answered()).toEqual([]);
  },
);

test('a request that an earlier attempt had answered may be asked anew', async () => {
  asks('a');
  answers('a', 'deny');
  happens('session.updated', { status: 'queued' });
  asks('a');
  expect(await approve({ allow: true, request: 'a' })).toMatchObject({ exitCode: 0 });
});

test('without a terminal somebody has to say what the answer is', async () => {
  expect(await approve({})).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/--allow, --deny/) as string,
  });
  expect(service.seen).toEqual([]);
});

test('--always allows what waits and what comes, until the session has ended', async () => {
  asks('a');
  const { over, text } = running((context) => sessionApprove(context, { always: true }, id));
  await expect.poll(() => text().stdout).toBe('Allowed: bash: rm a\n');
  await expect.poll(() => followers.length).toBeGreaterThan(2);
  asks('b');
  await expect.poll(() => text().stdout).toBe('Allowed: bash: rm a\nAllowed: bash: rm b\n');
  happens('session.updated', { status: 'done' });
  expect(await over).toBe(0);
  expect(answered().map(({ data }) => data['request_id'])).toEqual(['a', 'b']);
});

test('what waits is listed, of all sessions that run or of one', async () => {
  asks('a');
  asks('b', other);
  const list = (...ids: string[]) => {
    const { over } = running((context) => sessionRequests(context, {}, ...ids));
    return over as Promise<{ human: string; json: object[] }>;
  };
  const { human, json } = await list();
  expect(human).toMatch(
    new RegExp(`^SESSION +REQUEST +ASKED +WANTS\n${id} +a +2020-01-01 +bash: rm a\n${other} +b .*$`),
  );
  expect(json[0]).toMatchObject({ session_id: id, event_id: 'evt_1', request_id: 'a', tool: 'bash' });
  expect(service.lines()[0]).toBe('GET /v1/sessions?limit=1000&status=running%2Cdisconnected');
  expect((await list(other)).json).toMatchObject([{ request_id: 'b' }]);
  answers('a', 'allow');
  expect(await list(id)).toMatchObject({ json: [], human: 'No session waits for an answer.' });
});
