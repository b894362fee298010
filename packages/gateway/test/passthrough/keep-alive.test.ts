import { ManualClock } from '@sallyport/core/testing';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { rawUpstream, until } from './raw-upstream.ts';
import { through } from './through.ts';

const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n';
const gzipped = gzipSync('data: 1\n\n');
const keeping = { 'upstream.keepAliveSeconds': 30 };

/** A stream through a gateway, as it is read so far. */
async function streamOf(url: string, clock: ManualClock, flags: Readonly<Record<string, unknown>>) {
  const served = await through(url, flags, { clock });
  const response = await fetch(`${served.url}/v1/messages`);
  const read = { text: '' };
  const reading = (async () => {
    const body = response.body ?? new ReadableStream<Uint8Array>();
    for await (const chunk of body) read.text += Buffer.from(chunk).toString();
  })();
  return { served, read, reading };
}

test('a silent event stream gets comments between its events, where told so', async () => {
  let socket: Socket | undefined;
  await using upstream = await rawUpstream((one) => (socket = one).write(`${head}\r\n`));
  const clock = new ManualClock();
  const { served, read, reading } = await streamOf(upstream.url, clock, keeping);
  await using _served = served;
  const says = async (text: string, whole: string) => {
    socket?.write(text);
    await until(() => read.text === whole);
  };
  await clock.advance(29_000);
  await says('data: 1\n\n', 'data: 1\n\n');
  await clock.advance(29_000);
  await says('data: 2\r\n\r', 'data: 1\n\ndata: 2\r\n\r');
  // Within an event, however long that takes.
  await clock.advance(90_000);
  const soFar = 'data: 1\n\ndata: 2\r\n\r\n';
  await says('\n', soFar);
  await clock.advance(30_000);
  await until(() => read.text === `${soFar}:\n\n`);
  await clock.advance(30_000);
  await until(() => read.text === `${soFar}:\n\n:\n\n`);
  socket?.end('data: 3\n\n');
  await reading;
  expect(read.text).toBe(`${soFar}:\n\n:\n\ndata: 3\n\n`);
});

test('before its first event, too', async () => {
  let socket: Socket | undefined;
  await using upstream = await rawUpstream((one) => (socket = one).write(`${head}\r\n`));
  const clock = new ManualClock();
  const { served, read, reading } = await streamOf(upstream.url, clock, keeping);
  await using _served = served;
  await clock.advance(30_000);
  await until(() => read.text === ':\n\n');
  socket?.end();
  await reading;
});

test.each([
  ['nobody asked', {}, 'cache-control: no-cache\r\n\r\n'],
  ['it is compressed', keeping, 'content-encoding: gzip\r\n\r\n'],
  ['its length is said', keeping, 'content-length: 9\r\n\r\n'],
  ['it is no event stream', keeping, 'content-type: text/plain\r\n\r\n'],
])('nothing is added where %s', async (_name, flags, rest) => {
  let socket: Socket | undefined;
  const first = rest.includes('text/plain') ? 'HTTP/1.1 200 OK\r\n' : head;
  await using upstream = await rawUpstream((one) => (socket = one).write(first + rest));
  const clock = new ManualClock();
  await using served = await through(upstream.url, flags, { clock });
  const response = await fetch(`${served.url}/v1/messages`);
  await clock.advance(120_000);
  const raw = response.headers.get('content-encoding') === 'gzip' ? gzipped : 'data: 1\n\n';
  socket?.end(raw);
  expect(await response.text()).toBe('data: 1\n\n');
});
