import { createClient, undiciTransport } from '@sallyport/core/client';
import type { SessionEvent } from '@sallyport/core/contract';
import { expect, onTestFinished, test } from 'vitest';
import { loginStore } from '../../connect.ts';
import { testContext } from '../../testing/context.ts';
import { startService } from '../../testing/service.ts';
import { Approvals, createApprovals, describeRequest, type Approve } from './approvals.ts';

let count = 0;
const event = (type: string, data: SessionEvent['data']): SessionEvent => ({
  id: `evt_${(count += 1)}`,
  seq: count,
  type,
  session_id: 'session_1',
  created_at: 'now',
  data,
});
const request = (id: string) =>
  event('tool.permission_request', { request_id: id, tool: 'bash', description: id });
const response = (id: string, { behavior = 'allow', email = 'ann@example.com' } = {}) => ({
  ...event('control.permission_response', { request_id: id, behavior }),
  account: { id: email, email },
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

function bench(
  approve: Approve | undefined,
  says: (asked: number) => Promise<string> = () => Promise.resolve(''),
  mayAnswer = () => Promise.resolve(true),
) {
  const answers: [unknown, string][] = [];
  const [asked, told]: [string[], string[]] = [[], []];
  const approvals = new Approvals({
    approve,
    mayAnswer,
    answer: ({ data }, behavior) => {
      answers.push([data['request_id'], behavior]);
      return Promise.resolve();
    },
    ask: (text, signal) =>
      Promise.race([
        says(asked.push(text)),
        new Promise<never>((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted'))),
        ),
      ]),
    tell: (text) => told.push(text),
  });
  return { approvals, answers, asked, told };
}

test.each([
  ['always', 'allow'],
  ['never', 'deny'],
] as const)(
  '%s: each request is answered, those from before that are still open too',
  async (approve, behavior) => {
    const { approvals, answers, asked } = bench(approve);
    for (const each of [request('a'), request('b'), response('a')]) approvals.observe(each);
    await settled();
    expect(answers).toEqual([]);
    approvals.begin();
    await settled();
    approvals.observe(request('c'));
    await settled();
    expect(answers).toEqual([
      ['b', behavior],
      ['c', behavior],
    ]);
    expect(asked).toEqual([]);
  },
);

test('a person is asked, one request after the other; only a yes allows', async () => {
  const said = ['y', '', 'yes please', 'A', 'never asked'];
  const { approvals, answers, asked } = bench('ask', (number) => Promise.resolve(said[number - 1]!));
  approvals.begin();
  for (const id of ['a', 'b', 'c', 'd', 'e']) approvals.observe(request(id));
  for (let turns = 0; turns < 10; turns += 1) await settled();
  expect(answers).toEqual([
    ['a', 'allow'],
    ['b', 'deny'],
    ['c', 'deny'],
    ['d', 'allow'],
    ['e', 'allow'],
  ]);
  expect(asked).toHaveLength(4);
  expect(asked[0]).toBe('Allow bash: a? [y]es, [a]lways, [N]o: ');
});

test('what somebody else answers is not asked for any more, and who was first is told', async () => {
  const { approvals, answers, told } = bench('ask', (number) =>
    number === 1 ? new Promise(() => undefined) : Promise.resolve('y'),
  );
  approvals.begin();
  for (const each of [request('a'), request('b')]) approvals.observe(each);
  await settled();
  // What is told below the question is not shown once more; the later answer does not count.
  expect(approvals.observe(response('a', { behavior: 'deny' }))).toBe(true);
  expect(approvals.observe(response('a', { email: 'bob@example.com' }))).toBe(false);
  for (let turns = 0; turns < 5; turns += 1) await settled();
  expect(answers).toEqual([['b', 'allow']]);
  expect(told).toEqual(['answered by ann@example.com: refused']);
});

test('where nobody answers the person is told how', async () => {
  const { approvals, answers, told } = bench(undefined);
  approvals.begin();
  approvals.observe(request('a'));
  await settled();
  expect(answers).toEqual([]);
  expect(told).toEqual([expect.stringContaining('sallyport session approve session_1') as string]);
});

test.each(['ask', 'always', 'never', undefined] as const)(
  'who may not answer is asked nothing, and told who may, until the role is another (%s)',
  async (approve) => {
    let may = false;
    const { approvals, answers, asked, told } = bench(
      approve,
      () => Promise.resolve('y'),
      () => Promise.resolve(may),
    );
    approvals.begin();
    for (const id of ['a', 'b']) approvals.observe(request(id));
    for (let turns = 0; turns < 5; turns += 1) await settled();
    expect([answers, asked]).toEqual([[], []]);
    expect(told).toEqual(
      Array(2).fill('It waits for an answer: a member or an admin of the organization may give one.'),
    );
    may = true;
    approvals.observe(request('c'));
    for (let turns = 0; turns < 5; turns += 1) await settled();
    expect(answers).toHaveLength(approve === undefined ? 0 : 1);
    expect(asked).toHaveLength(approve === 'ask' ? 1 : 0);
  },
);

test.each([
  ['always', 'viewer', ['read'], 0],
  ['always', 'member', ['read', 'write'], 1],
  [undefined, 'viewer', ['read'], 0],
] as const)('the service says who may answer (%s, %s)', async (approve, role, permissions, answered) => {
  const organizationId = '0b6f7a52-8d5e-4b5e-9d3f-000000000001';
  const asking = request('a');
  const first = { ...response('a', { behavior: 'deny' }), id: 'of another client' };
  const frames = `id: ${first.seq}\ndata: ${JSON.stringify(first)}\n\nevent: caught_up\ndata: {}\n\n`;
  const service = await startService({
    [`GET /api/bootstrap/${organizationId}/current_user_access`]: {
      body: { access_level: role, permissions },
    },
    'POST /v1/sessions/session_1/events': { body: { events: [] } },
    [`GET /v1/sessions/session_1/events/stream?beta=true&from_seq=${asking.seq}`]: {
      headers: { 'content-type': 'text/event-stream' },
      body: frames,
    },
  });
  const transport = undiciTransport({ proxyFromEnvironment: false });
  onTestFinished(async () => {
    service.close();
    await transport.close();
  });
  const clientOptions = {
    baseUrl: service.baseUrl,
    transport,
    tokens: { token: async () => 'token' },
  };
  const client = createClient(clientOptions);
  const { context, text } = testContext();
  const { signal } = new AbortController();
  const { store, loginKey } = loginStore(context);
  const connection = { client, clientOptions, store, loginKey, organizationId };
  const approvals = createApprovals(context, connection, { approve, signal });
  approvals.begin();
  approvals.observe(asking);
  await expect.poll(() => text().stderr).not.toBe('');
  expect(service.seen.filter(({ method }) => method === 'POST')).toHaveLength(answered);
  expect(text().stderr).toMatch(
    answered > 0
      ? /^answered by ann@example\.com before you: refused\n$/
      : /a member or an admin of the organization may/,
  );
});

test('what is answered, or over, before it is known who may answer is not asked for', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const { approvals, asked, told } = bench('ask', undefined, () => promise);
  approvals.begin();
  for (const each of [request('a'), response('a'), request('b')]) approvals.observe(each);
  const over = approvals.end();
  resolve(true);
  await over;
  expect([asked, told]).toEqual([[], []]);
});

test('the end of the session ends the question', async () => {
  const { approvals, answers, told } = bench('ask', () => new Promise(() => undefined));
  approvals.begin();
  approvals.observe(request('a'));
  await settled();
  await approvals.end();
  expect([answers, told]).toEqual([[], []]);
});

test('an answer that is under way ends with the session; nothing is told of it, and nothing begins', async () => {
  const told: string[] = [];
  let begun = 0;
  const approvals = new Approvals({
    approve: 'always',
    mayAnswer: () => Promise.resolve(true),
    answer: (_request, _behavior, signal) => {
      begun += 1;
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    },
    ask: () => expect.unreachable(),
    tell: (text) => told.push(text),
  });
  approvals.begin();
  for (const id of ['a', 'b']) approvals.observe(request(id));
  await expect.poll(() => begun).toBe(1);
  await approvals.end();
  approvals.observe(request('c'));
  approvals.begin();
  await settled();
  expect([begun, told]).toEqual([1, []]);
});

test('Ctrl-C at the question is no answer, and no failure', async () => {
  const interrupted = Object.assign(new Error('aborted'), { name: 'AbortError' });
  const { approvals, answers, told } = bench('ask', () => Promise.reject(interrupted));
  approvals.begin();
  approvals.observe(request('a'));
  for (let turns = 0; turns < 5; turns += 1) await settled();
  expect([answers, told]).toEqual([[], []]);
});

test('what steers a terminal is not in a question', async () => {
  const { approvals, asked } = bench('ask');
  approvals.begin();
  approvals.observe(
    event('tool.permission_request', { request_id: 'a', tool: 'x\u001b[2J', description: 'a\nAllow b' }),
  );
  await settled();
  expect(asked).toEqual(['Allow x [2J: a Allow b? [y]es, [a]lways, [N]o: ']);
});

test.each([
  [{ tool: 'bash', description: 'rm -r build' }, 'bash: rm -r build'],
  [{ tool: 'edit', input: { path: 'a' } }, 'edit: {"path":"a"}'],
  [{ tool: 'web' }, 'web'],
  [{}, 'a tool'],
])('%j in words', (data, words) => {
  expect(describeRequest(data)).toBe(words);
});
