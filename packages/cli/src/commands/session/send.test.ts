import { afterEach, beforeEach, expect, test } from 'vitest';
import { testContext } from '../../testing/context.ts';
import { startService, type Service } from '../../testing/service.ts';
import { sessionSend } from './send.ts';

const id = `session_${'A'.repeat(26)}`;
type Log = [type: string, data: object][];

let service: Service;
let log: Log;
let stream: 'told' | 'refused' | 'never told';
beforeEach(async () => {
  log = [];
  stream = 'told';
  service = await startService(({ method, url, body }, response) => {
    if (method === 'POST') {
      const [event] = (body as { events: { id: string; type: string; data: object }[] }).events;
      if (!event) return { status: 400 };
      return { body: { events: [{ id: event.id, seq: log.push([event.type, event.data]) }] } };
    }
    if (stream === 'refused') return { status: 404, body: { error: 'not_found', error_description: 'No.' } };
    if (stream === 'never told') return undefined;
    const fromSeq = Number(new URL(url, 'http://x').searchParams.get('from_seq'));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const [index, [type, data]] of log.entries())
      if (index >= fromSeq)
        response.write(`id: ${index + 1}\ndata: ${JSON.stringify({ seq: index + 1, type, data })}\n\n`);
    return undefined; // it stays open
  });
});
afterEach(() => service.close());

/** Sends; gives what is said of it, and what stderr has besides. */
function send() {
  const { context, clock, text } = testContext();
  const [baseUrl, organization] = [service.baseUrl, '0b6f7a52-8d5e-4b5e-9d3f-000000000001'];
  const said = sessionSend(
    {
      ...context,
      settings: { ...context.settings, baseUrl, token: 'secret', organization },
      env: { SALLYPORT_TOKEN: 'secret', DO_NOT_TRACK: '1' },
    },
    {},
    id,
    'the other branch',
  );
  return { clock, done: said.then((output) => ({ output, stderr: text().stderr })) };
}

const closed: Log[number] = ['worker.ready', { pid: 1, interactive: false }];
const exited: Log[number] = ['worker.exited', { exit_code: null, signal: 'SIGKILL' }];
const queued: Log[number] = ['session.updated', { status: 'queued' }];
const printed = (lines: number): Log =>
  Array.from({ length: lines }, () => ['session.output', { stream: 'stdout', text: 'x' }]);

test('a message that the command will not read is sent with a notice, and how it could be read', async () => {
  log = [['worker.ready', { interactive: true }], exited, queued, closed, ...printed(5)];
  const { output, stderr } = await send().done;
  expect(output).toMatchObject({
    json: { session_id: id, seq: 10 },
    human: `Sent as event 10 of session ${id}.`,
  });
  expect(stderr).toMatch(/will not read it: its input is closed.*sallyport bridge run --interactive\n$/);
});

test.each<[string, Log]>([
  ['whose bridge is interactive', [closed, exited, queued, ['worker.ready', { interactive: true }]]],
  ['of an older bridge', [['worker.ready', { pid: 1 }]]],
  ['that has not begun', [['session.message', { text: 'go' }]]],
  ['that is to begin anew, and gets it then', [closed, queued]],
  ['whose process is gone', [closed, exited]],
  ['that began too long ago to look for it', [closed, ...printed(500)]],
])('a session %s gets no notice', async (_, before) => {
  log = [...before];
  expect(await send().done).toMatchObject({ stderr: '' });
});

test('a log is looked at near its end only', async () => {
  log = [...printed(500), closed];
  expect((await send().done).stderr).toContain('will not read it');
  expect(service.lines().at(-1)).toMatch(/events\/stream.*from_seq=401\b/);
});

test.each(['refused', 'never told'] as const)('what the log would say is %s, and it is sent', async (how) => {
  stream = how;
  const { clock, done } = send();
  if (how === 'never told') {
    await expect.poll(() => service.lines().at(-1)).toContain('/events/stream');
    await clock.advance(2000);
  }
  expect(await done).toMatchObject({ output: { json: { seq: 1 } }, stderr: '' });
});
