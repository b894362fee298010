import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, undiciTransport } from '@sallyport/core/client';
import type { Session } from '@sallyport/core/contract';
import { expect, onTestFinished, test } from 'vitest';
import type { Connection } from '../../connect.ts';
import { runCli } from '../../testing/cli.ts';
import { testContext } from '../../testing/context.ts';
import { environmentAt, startService, type Seen } from '../../testing/service.ts';
import { testSession } from '../../testing/session.ts';
import { answerMs, askForChanges } from './changes-in-log.ts';

const source = { type: 'git_repository', url: '.' };
const patch = 'diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+é\n';
const changes = {
  ...{ url: '.', branch: 'sallyport/session_1', base: 'c0', head: 'c1' },
  ...{ files: [{ path: 'a', added: 1, removed: 0 }], file_count: 1, added: 1, removed: 0 },
  patch_bytes: Buffer.byteLength(patch),
};
const told = [
  ['worker.patch', { source: 0, text: patch.slice(0, 40) }],
  ['worker.patch', { source: 0, text: patch.slice(40) }],
  ['worker.changes', { sources: [changes] }],
] as const;
const ended = [
  ['worker.exited', { exit_code: 0, signal: null }],
  ['session.updated', { status: 'done', exit_code: 0 }],
] as const;

type Told = readonly (readonly [string, object])[];

/** A service with one session; `answers`: what its log gets when somebody asks for changes. */
async function serve(session: Partial<Session>, log: Told, answers: Told = []) {
  const record = testSession({ session_context: { sources: [source] }, ...session });
  const streams: ServerResponse[] = [];
  const write = (response: ServerResponse, [type, data]: Told[number], seq: number) => {
    const event = {
      id: `e${seq}`,
      seq,
      type,
      session_id: record.id,
      created_at: '2026-01-01T00:00:00.000Z',
      data,
    };
    response.write(`id: ${seq}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  const all: Told[number][] = [...log];
  const answer = ({ method, url, body }: Seen, response: ServerResponse) => {
    if (method === 'POST' && url.endsWith('/events')) {
      const { events } = body as { events: { id: string; type: string; data: object }[] };
      const [event] = events as [{ id: string; type: string; data: object }];
      const seq = all.push([event.type, event.data]);
      all.push(...answers);
      return { body: { events: [{ id: event.id, seq }] } };
    }
    if (url.includes('/events/stream')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const from = Number(/from_seq=(\d+)/.exec(url)?.[1] ?? 0);
      for (const [index, each] of all.entries()) if (index >= from) write(response, each, index + 1);
      response.write(`event: caught_up\ndata: {"type":"caught_up","seq":${all.length}}\n\n`);
      streams.push(response);
      return undefined;
    }
    if (url.startsWith('/v1/sessions?')) return { body: [record] };
    if (url.startsWith('/v1/sessions/')) return { body: { ...record, last_seq: all.length } };
    return { body: { environments: [], has_more: false } };
  };
  const service = await startService(answer);
  const cwd = mkdtempSync(join(tmpdir(), 'sallyport-diff-'));
  onTestFinished(() => {
    service.close();
    rmSync(cwd, { recursive: true, force: true });
  });
  const diff = (...args: string[]) =>
    runCli(['session', 'diff', 'session_1', ...args], { cwd, env: environmentAt(service) });
  return { service, diff, record };
}

test('a session that ran elsewhere is shown from its log, byte by byte', async () => {
  const { diff } = await serve({}, [['session.message', { text: 'go' }], ...told, ...ended]);
  expect(await diff()).toEqual({ exitCode: 0, stdout: patch, stderr: '' });
  expect((await diff('--stat')).stdout).toBe(' a |   1 +\n 1 file changed, +1 -0\n');
  expect((await diff('--name-only')).stdout).toBe('a\n');
  expect(JSON.parse((await diff('--json')).stdout)).toEqual({
    session_id: 'session_1',
    from: 'log',
    sources: [{ ...changes, text: patch }],
  });
});

test('a log is read from near its end', async () => {
  const noise = Array.from(
    { length: 500 },
    () => ['session.output', { stream: 'stdout', text: 'x' }] as const,
  );
  const { diff, service } = await serve({}, [...noise, ...told, ...ended]);
  expect((await diff()).stdout).toBe(patch);
  expect(service.lines().find((line) => line.includes('stream'))).toContain('from_seq=305');
});

test('the bridge of one that runs is asked', async () => {
  const { diff, service } = await serve({ status: 'running' }, [['session.message', { text: 'go' }]], told);
  expect(await diff()).toEqual({ exitCode: 0, stdout: patch, stderr: '' });
  const asked = service.seen.find(({ method }) => method === 'POST');
  expect(asked).toMatchObject({ body: { events: [{ type: 'control.changes', data: {} }] } });
});

test('the end of an answer to somebody else is not taken for the own one', async () => {
  const { diff } = await serve({ status: 'running' }, [told[0]], [...told.slice(1), ...told]);
  expect(await diff()).toEqual({ exitCode: 0, stdout: patch, stderr: '' });
});

test('it is all that there is, if the session ends then', async () => {
  const { diff } = await serve({ status: 'running' }, [told[0]], [...told.slice(1), ...ended]);
  expect(await diff()).toMatchObject({ exitCode: 1, stdout: patch.slice(40) });
});

test.each([
  ['by force', [...told, ended[1]]],
  ['at another attempt, which told nothing', [...told, ['worker.ready', {}], ...ended]],
] as const)(
  'what one told while it ran, and no more before it ended %s, is said to be of then',
  async (_, log) => {
    const { diff } = await serve({}, log);
    const { exitCode, stdout, stderr } = await diff();
    expect([exitCode, stdout]).toEqual([1, patch]);
    expect(stderr).toMatch(/^This was told at 2026-01-01T00:00:00.000Z, while it ran\..* not known\.\n$/);
  },
);

test('one that ends while its bridge is asked, and told nothing, is no endless wait', async () => {
  const { diff } = await serve({ status: 'running' }, [], ended);
  expect(await diff()).toMatchObject({ exitCode: 4, stdout: '' });
});

test.each([
  ['no source', { session_context: { sources: [] } }, [], 4, /no source of its own[^]*--source \./],
  ['no report', {}, [['worker.ready', {}], ...ended], 4, /does not tell what it changed: [^]*run it there/],
  ['no beginning', { status: 'queued' }, [], 6, /has not begun[^]*session logs -f session_1/],
  ['no bridge', { status: 'disconnected' }, [], 6, /has lost its bridge[^]*env list --online/],
] as const)('one that has %s says so, with what to do', async (_, session, log, exitCode, said) => {
  const { diff } = await serve(session, log);
  expect(await diff()).toEqual({ exitCode, stdout: '', stderr: expect.stringMatching(said) as string });
});

test('a bridge that does not answer is waited for 30 s', async () => {
  const { service, record } = await serve({ status: 'running' }, []);
  const { context, clock } = testContext();
  const transport = undiciTransport({ proxyFromEnvironment: false });
  onTestFinished(() => transport.close());
  const clientOptions = {
    baseUrl: service.baseUrl,
    tokens: { token: () => Promise.resolve('t') },
    transport,
  };
  const connection = { client: createClient(clientOptions), clientOptions } as unknown as Connection;
  const asking = askForChanges(context, connection, record).catch((error: unknown) => error);
  while (!service.lines().some((line) => line.includes('stream')))
    await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(answerMs);
  expect(await asking).toMatchObject({ code: 'no_answer', exitCode: 6 });
  expect(clock.timers).toBe(0);
});
