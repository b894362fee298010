import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  Http1Client,
  MalformedRequest,
  type Control,
  type Http1Options,
  type Outgoing,
} from '@sallyport/core/http1';
import { ManualClock } from '@sallyport/core/testing';
import { describe, expect, test } from 'vitest';
import { answer, rawUpstream, until } from './raw-upstream.ts';

const get: Outgoing = { method: 'GET', path: '/', headers: [], body: null, idleMs: 0 };

function clientOf(url: string, more: Partial<Http1Options> = {}) {
  const options = {
    connections: 4,
    timeoutMs: 10_000,
    waitingBytes: 1024,
    clock: new ManualClock(),
    ...more,
  };
  const client = new Http1Client(url, options);
  return { dispatch: client.dispatch, [Symbol.asyncDispose]: () => client.close() };
}

const nobody = {
  head: () => undefined,
  data: () => undefined,
  end: () => undefined,
  failed: () => undefined,
};

type Dispatching = Pick<ReturnType<typeof clientOf>, 'dispatch'>;

/** An answer as a whole, or why there is none; `began` says whether it may have arrived. */
function ask({ dispatch }: Dispatching, request: Partial<Outgoing> = {}) {
  const told = { began: false, body: '', trailers: [] as readonly string[] };
  let control: Control | undefined;
  const answered = new Promise<string>((resolve) => {
    control = dispatch(
      { ...get, ...request },
      {
        began: () => (told.began = true),
        head: ({ status }) => (told.body += `${status} `),
        data: (chunk) => (told.body += chunk.toString()),
        end(trailers) {
          told.trailers = trailers;
          resolve(told.body);
        },
        failed: (error) => resolve(`${told.body}${error.message}`),
      },
    );
  });
  return { told, answered, control: control as Control };
}

describe('a connection', () => {
  test('carries one request after the other', async () => {
    await using upstream = await rawUpstream((socket) => socket.write(answer('ok')));
    await using client = clientOf(upstream.url);
    for (let round = 0; round < 3; round++) expect(await ask(client).answered).toBe('200 ok');
    expect([upstream.heads.length, upstream.sockets.size]).toEqual([3, 1]);
  });

  test.each([
    ['says so', answer('ok', { headers: 'connection: close\r\n' })],
    ['has said more than was asked for', `${answer('ok')}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison`],
    ['keeps it for no time', answer('ok', { headers: 'keep-alive: timeout=1\r\n' })],
    ['is of HTTP/1.0', answer('ok').replace('1.1', '1.0')],
  ])('is given up after an answer that %s', async (_name, bytes) => {
    await using upstream = await rawUpstream((socket) => socket.write(bytes));
    await using client = clientOf(upstream.url);
    expect(await ask(client).answered).toBe('200 ok');
    await until(() => upstream.sockets.size === 0);
    expect(await ask(client).answered).toBe('200 ok');
  });

  test('over which something comes that nobody asked for is given up', async () => {
    await using upstream = await rawUpstream((socket) => socket.write(answer('ok')));
    await using client = clientOf(upstream.url);
    await ask(client).answered;
    for (const socket of upstream.sockets) socket.write(answer('poison'));
    await until(() => upstream.sockets.size === 0);
    expect(await ask(client).answered).toBe('200 ok');
  });

  test('is kept for four seconds, or for a second less than the upstream says', async () => {
    let headers = '';
    const clock = new ManualClock();
    await using upstream = await rawUpstream((socket) => socket.write(answer('ok', { headers })));
    await using client = clientOf(upstream.url, { clock });
    await ask(client).answered;
    await clock.advance(3_999);
    headers = 'keep-alive: timeout=10\r\n';
    await ask(client).answered;
    expect(upstream.sockets.size).toBe(1);
    await clock.advance(8_900);
    expect(upstream.sockets.size).toBe(1);
    await clock.advance(1_100);
    await until(() => upstream.sockets.size === 0);
  });

  test('that the upstream has closed meanwhile is told from one that failed', async () => {
    await using upstream = await rawUpstream((socket) => socket.end(answer('ok')));
    await using client = clientOf(upstream.url);
    await ask(client).answered;
    await until(() => upstream.sockets.size === 0);
    expect(await ask(client).answered).toBe('200 ok');
  });

  test('whose answer pauses for too long is given up, but not while nobody takes it', async () => {
    const clock = new ManualClock();
    await using upstream = await rawUpstream((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nsome '));
    await using client = clientOf(upstream.url, { clock });
    const { told, answered, control } = ask(client, { idleMs: 5_000 });
    await until(() => told.body.endsWith('some '));
    control.pause();
    await clock.advance(20_000);
    control.resume();
    await clock.advance(4_000);
    expect(upstream.sockets.size).toBe(1);
    await clock.advance(2_000);
    expect(await answered).toBe('200 some The server has paused for too long.');
    await until(() => upstream.sockets.size === 0);
  });
});

describe('a request', () => {
  test('waits its turn where there are connections enough, in order', async () => {
    await using upstream = await rawUpstream((socket, head) => {
      setImmediate(() => socket.write(answer(/GET \/(\d+)/.exec(head)?.[1])));
    });
    await using client = clientOf(upstream.url, { connections: 2 });
    const asked = Array.from({ length: 10 }, (_none, i) => ask(client, { path: `/${i}` }));
    expect(await Promise.all(asked.map(({ answered }) => answered))).toEqual(
      Array.from({ length: 10 }, (_none, i) => `200 ${i}`),
    );
    expect(upstream.sockets.size).toBe(2);
    expect(upstream.heads.map((head) => /GET \/(\d+)/.exec(head)?.[1])).toEqual('0123456789'.split(/(?=.)/));
  });

  test('that is given up while it waits leaves its place, and is never sent', async () => {
    const held: (() => void)[] = [];
    await using upstream = await rawUpstream((socket) => held.push(() => socket.write(answer('ok'))));
    await using client = clientOf(upstream.url, { connections: 1 });
    const [first, second, third] = [ask(client), ask(client, { path: '/gone' }), ask(client)] as const;
    await until(() => held.length === 1);
    second.control.abort(new Error('gone'));
    held[0]?.();
    await until(() => held.length === 2);
    held[1]?.();
    expect([await first.answered, await third.answered]).toEqual(['200 ok', '200 ok']);
    expect(upstream.heads.join()).not.toContain('/gone');
    expect(second.told.began).toBe(false);
  });

  test('has not begun where there is no connection in time', async () => {
    await using upstream = await rawUpstream(() => undefined);
    const clock = new ManualClock();
    // A TLS handshake that nobody answers.
    await using client = clientOf(upstream.url.replace('http:', 'https:'), { clock });
    const { told, answered } = ask(client);
    await until(() => upstream.sockets.size === 1);
    await clock.advance(10_000);
    expect(await answered).toMatch(/^No connection to .* in time\.$/);
    expect(told.began).toBe(false);
  });

  test.each<[string, Partial<Outgoing>]>([
    ['line end in its path', { path: '/a\r\nX-A: 1' }],
    ['space in its path', { path: '/a b' }],
    ['line end in a header', { headers: ['x-a', '1\r\nx-b: 2'] }],
    ['colon in the name of a header', { headers: ['x-a:', '1'] }],
    ['method that is none', { method: 'GET /' }],
  ])('with a %s is not sent', async (_name, request) => {
    await using upstream = await rawUpstream((socket) => socket.write(answer('ok')));
    await using client = clientOf(upstream.url);
    expect(() => client.dispatch({ ...get, ...request }, nobody)).toThrow(MalformedRequest);
    expect(upstream.sockets.size).toBe(0);
  });

  test('has its framing from its body, whatever its headers say', async () => {
    await using upstream = await rawUpstream((socket) => socket.write(answer('ok')));
    await using client = clientOf(upstream.url);
    const headers = [
      'Content-Length',
      '99',
      'Transfer-Encoding',
      'chunked',
      'Host',
      'x',
      'Connection',
      'close',
    ];
    await ask(client, { method: 'POST', headers: [...headers, 'Trailer', 'X-A'], body: Buffer.from('four') })
      .answered;
    await ask(client, { method: 'POST', headers }).answered;
    await ask(client, { headers }).answered;
    const host = `host: 127.0.0.1:${upstream.port}\r\nconnection: keep-alive`;
    expect(upstream.heads).toEqual([
      `POST / HTTP/1.1\r\n${host}\r\ncontent-length: 4`,
      `POST / HTTP/1.1\r\n${host}\r\ncontent-length: 0`,
      `GET / HTTP/1.1\r\n${host}`,
    ]);
  });
});

test('a thousand requests that are given up leave no socket, whenever that is', async () => {
  const server = createServer((request, response) => {
    response.write('some');
    if (request.url === '/ends') response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await using client = clientOf(`http://127.0.0.1:${port}`, { connections: 16 });
  const count = () =>
    new Promise<number>((resolve) => server.getConnections((_error, open) => resolve(open)));
  for (let batch = 0; batch < 20; batch++) {
    const asked = Array.from({ length: 50 }, (_none, i) => ask(client, i % 3 === 0 ? { path: '/ends' } : {}));
    if (batch % 2 === 0) await until(() => asked.some(({ told }) => told.body !== ''));
    for (const { control } of asked) control.abort(new Error('gone'));
  }
  expect(await ask(client, { path: '/ends' }).answered).toBe('200 some');
  await client[Symbol.asyncDispose]();
  while ((await count()) > 0) await new Promise((resolve) => setImmediate(resolve));
  server.close();
});
