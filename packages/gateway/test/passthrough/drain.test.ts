import { expect, test } from 'vitest';
import { gate } from '../gate.ts';
import { answer, rawUpstream, until } from './raw-upstream.ts';
import { through } from './through.ts';

const stream =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n3\r\n: 1\r\n';

test('an event stream without an end ends well, so that its reader goes elsewhere', async () => {
  await using upstream = await rawUpstream((socket) => socket.write(stream));
  const served = await through(upstream.url);
  const events = await fetch(`${served.url}/v1/sessions/s/events/stream?beta=true`);
  const closing = served.close();
  expect(await events.text()).toBe(': 1');
  await closing;
  await until(() => upstream.sockets.size === 0);
});

test("a model's answer goes on to its end, and what is in flight too", async () => {
  const go = gate();
  await using upstream = await rawUpstream(async (socket, head) => {
    if (head.includes('messages')) socket.write(stream);
    await go.opened;
    socket.write(head.includes('messages') ? '3\r\n: 2\r\n0\r\n\r\n' : answer('done'));
  });
  const served = await through(upstream.url);
  const events = await fetch(`${served.url}/v1/messages`, { method: 'POST', body: '{"stream":true}' });
  const late = fetch(`${served.url}/v1/models`);
  await until(() => upstream.heads.length === 2);
  const closing = served.close();
  await until(() => served.app.drain.draining);
  go.open();
  expect(await events.text()).toBe(': 1: 2');
  const models = await late;
  expect([await models.text(), models.headers.get('connection')]).toEqual(['done', 'close']);
  await closing;
});

test('a held poll is answered at once, and upstream nobody waits any more', async () => {
  await using upstream = await rawUpstream(() => undefined);
  const served = await through(upstream.url);
  const held = fetch(`${served.url}/v1/environments/e/work/poll?block_ms=60000`);
  await until(() => upstream.heads.length === 1);
  await served.close();
  const answered = await held;
  expect([answered.status, answered.headers.get('retry-after'), await answered.json()]).toEqual([
    503,
    '1',
    expect.objectContaining({ error: 'draining' }),
  ]);
  await until(() => upstream.sockets.size === 0);
});
