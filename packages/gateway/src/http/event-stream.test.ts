import { once } from 'node:events';
import { IncomingMessage, ServerResponse } from 'node:http';
import { connect, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { gate } from '../../test/gate.ts';
import { serve } from '../../test/serve.ts';
import { sendEventStream } from './event-stream.ts';
import type { SseFrame } from './handler.ts';

const path = '/v1/sessions/s/events/stream';
const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer access\r\n\r\n`;

/** A stream that the test feeds; it counts what was pulled and tells when it was left. */
function source() {
  const waiting: ((step: IteratorResult<SseFrame>) => void)[] = [];
  const ready: SseFrame[] = [];
  const left = gate();
  const state = { pulled: 0 };
  const iterable: AsyncIterable<SseFrame> = {
    [Symbol.asyncIterator]: () => ({
      next() {
        state.pulled++;
        const value = ready.shift();
        return value
          ? Promise.resolve({ value, done: false })
          : new Promise((resolve) => waiting.push(resolve));
      },
      async return() {
        left.open();
        return { value: undefined, done: true };
      },
    }),
  };
  return {
    iterable,
    state,
    left: left.opened,
    push(frame: SseFrame) {
      const wake = waiting.shift();
      if (wake) wake({ value: frame, done: false });
      else ready.push(frame);
    },
    finish: () => waiting.shift()?.({ value: undefined, done: true }),
  };
}

async function open(port: number): Promise<{ socket: Socket; until: (text: string) => Promise<string> }> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(request);
  let seen = '';
  socket.on('data', (chunk: Buffer) => (seen += chunk.toString()));
  return {
    socket,
    async until(part) {
      while (!seen.includes(part)) await once(socket, 'data');
      return seen;
    },
  };
}

describe('server-sent events', () => {
  test('headers go out at once, frames as they come, and the end of the source ends the answer', async () => {
    const feed = source();
    await using served = await serve({ handlers: { sessions: { stream: async () => feed.iterable } } });
    const answer = await fetch(served.url + path, { headers: { authorization: 'Bearer access' } });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'request-id': expect.stringMatching(/^req_/) as string,
    });
    feed.push({ id: '1', event: 'session.message', data: { text: 'a\nb' } });
    feed.push({ data: 'plain' });
    await expect.poll(() => feed.state.pulled).toBe(3);
    feed.finish();
    expect(await answer.text()).toBe(
      'retry: 2000\n\nid: 1\nevent: session.message\ndata: {"text":"a\\nb"}\n\ndata: "plain"\n\n',
    );
  });

  test('says that it lives while nothing comes, and not when something did', async () => {
    const clock = new ManualClock();
    const feed = source();
    await using served = await serve(
      { handlers: { sessions: { stream: async () => feed.iterable } } },
      { clock },
    );
    const { socket, until } = await open(served.port);
    await until('retry: 2000');
    await clock.advance(14_000);
    feed.push({ data: 1 });
    await until('data: 1');
    await expect.poll(() => feed.state.pulled).toBe(2);
    await clock.advance(14_000);
    feed.push({ data: 2 });
    expect(await until('data: 2')).not.toContain(': ka');
    await expect.poll(() => feed.state.pulled).toBe(3);
    await clock.advance(30_000);
    expect((await until(': ka\n\n')).match(/: ka/g)).toHaveLength(2);
    socket.destroy();
    await feed.left;
  });

  test('pulls no faster than the reader takes, and cuts off one that takes nothing for 30 s', async () => {
    const clock = new ManualClock();
    const left = gate();
    const state = { pulled: 0 };
    const endless = async function* (): AsyncGenerator<SseFrame> {
      try {
        for (;;) {
          state.pulled++;
          yield { data: 'x'.repeat(64 * 1024) };
        }
      } finally {
        left.open();
      }
    };
    await using served = await serve(
      { handlers: { sessions: { stream: async () => endless() } } },
      { clock },
    );
    const { socket } = await open(served.port);
    socket.pause();
    let gone = false;
    void left.opened.then(() => (gone = true));
    // However long the kernel's buffers take to fill: only a reader that takes nothing is cut off.
    while (!gone) await clock.advance(30_000);
    expect(state.pulled).toBeLessThan(500);
    socket.destroy();
  });

  test('a reader on a slow line gets a large event whole', async () => {
    const clock = new ManualClock();
    const taken: Buffer[] = [];
    const line = new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, done) {
        taken.push(chunk);
        void clock.advance(chunk.length / 3).then(() => done()); // at 3 KB a second
      },
    });
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    response.assignSocket(Object.assign(line, { setNoDelay: () => line }) as unknown as Socket);
    line.on('drain', () => response.emit('drain')); // as a server has it
    const data = '\u{1f6a2}'.repeat(250_000);
    const options = { clock, headers: {}, signal: new AbortController().signal, farewell: () => '' };
    let told = 0;
    const frames = async function* (): AsyncGenerator<SseFrame> {
      yield { data, taken: () => told++ };
    };
    await sendEventStream(response, frames(), options);
    await once(response, 'finish');
    const text = Buffer.concat(taken)
      .toString()
      .replaceAll(/\r\n[0-9a-f]+\r\n/g, '');
    expect(text.includes(data)).toBe(true);
    expect(told).toBe(16); // of 64 KiB each
  });

  test('leaves the source when the reader goes', async () => {
    const feed = source();
    let aborted: AbortSignal | undefined;
    const stream = async ({ signal }: { readonly signal: AbortSignal }) => {
      aborted = signal;
      return feed.iterable;
    };
    await using served = await serve({ handlers: { sessions: { stream } } });
    const { socket, until } = await open(served.port);
    await until('retry: 2000');
    socket.destroy();
    await feed.left;
    expect(aborted?.aborted).toBe(true);
  });

  test('a drain ends it with a last comment', async () => {
    const feed = source();
    const served = await serve({ handlers: { sessions: { stream: async () => feed.iterable } } });
    const answer = await fetch(served.url + path, { headers: { authorization: 'Bearer access' } });
    await served.close();
    expect(await answer.text()).toBe('retry: 2000\n\n: draining\n\n');
  });

  test('a source that fails ends the answer, and the gateway goes on', async () => {
    const failing = async function* (): AsyncGenerator<SseFrame> {
      yield { data: 1 };
      throw new Error('the source failed');
    };
    await using served = await serve({ handlers: { sessions: { stream: async () => failing() } } });
    const answer = await fetch(served.url + path, { headers: { authorization: 'Bearer access' } });
    expect(await answer.text()).toContain('data: 1');
    expect((await fetch(`${served.url}/healthz`)).status).toBe(200);
  });

  test('HEAD has the headers and reads nothing', async () => {
    const feed = source();
    await using served = await serve({ handlers: { sessions: { stream: async () => feed.iterable } } });
    const answer = await fetch(served.url + path, {
      method: 'HEAD',
      headers: { authorization: 'Bearer access' },
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    expect(feed.state.pulled).toBe(0);
  });
});
