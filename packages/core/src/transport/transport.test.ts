import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ManualClock } from '../testing/index.ts';
import { fetchTransport } from './fetch.ts';
import { http1Transport } from './http1.ts';
import { sendWithRetries } from './retry.ts';
import type { Transport, TransportRequest } from './transport.ts';
import { undiciTransport } from './undici.ts';

const open: { server?: Server; transport?: Transport } = {};
afterEach(async () => {
  await open.transport?.close();
  open.server?.closeAllConnections();
  open.server?.close();
});

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  open.server = server;
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const get = (url: string, more: Partial<TransportRequest> = {}): TransportRequest => ({
  method: 'GET',
  url,
  headers: {},
  timeoutMs: 5_000,
  ...more,
});

describe.each([
  ['http1', () => http1Transport({ proxyFromEnvironment: false })],
  ['undici', () => undiciTransport({ proxyFromEnvironment: false })],
  ['fetch', () => fetchTransport()],
] as const)('%s', (_, make) => {
  test('carries method, headers and body, and gives any status', async () => {
    const url = await serve((request, response) => {
      void request.toArray().then(
        (chunks) => {
          const body = Buffer.concat(chunks as Buffer[]).toString();
          response
            .writeHead(418, { 'x-two': ['a', 'b'] })
            .end(`${request.method} ${request.url} ${String(request.headers['x-one'])} ${body}`);
        },
        () => undefined, // whoever asked hung up amid it
      );
    });
    const transport = (open.transport = make());
    const answer = await transport.send({
      ...get(`${url}/p?q=1`),
      method: 'POST',
      headers: { 'x-one': '1' },
      body: 'héllo',
    });
    expect(answer.status).toBe(418);
    expect(answer.headers['x-two']).toBe('a, b');
    expect(await answer.text()).toBe('POST /p?q=1 1 héllo');
  });

  test.each([
    ['a text', 'héllo'],
    ['bytes', new TextEncoder().encode('-héllo-').subarray(1, 7)],
    [
      'a stream',
      async function* () {
        for (const part of ['hé', '', 'llo']) yield new TextEncoder().encode(part);
      },
    ],
  ])('carries %s', async (_what, body) => {
    const url = await serve((request, response) => void request.pipe(response));
    const answer = await (open.transport = make()).send({ ...get(url), method: 'POST', body });
    expect(await answer.text()).toBe('héllo');
  });

  test('gives the head before the body is there, and the body as it comes', async () => {
    let more: () => void = () => undefined;
    const url = await serve((_request, response) => {
      response.writeHead(200).flushHeaders();
      more = () => response.write('one');
    });
    const transport = (open.transport = make());
    const answer = await transport.send(get(url, { idleMs: 0 }));
    expect(answer.status).toBe(200);
    const body = answer.stream()[Symbol.asyncIterator]();
    const first = body.next();
    more();
    expect(Buffer.from((await first).value as Uint8Array).toString()).toBe('one');
    await body.return?.();
  });

  test('an answer over the bound is refused', async () => {
    const url = await serve((_request, response) => response.end('x'.repeat(2000)));
    const answer = await (open.transport = make()).send(get(url));
    await expect(answer.text(1000)).rejects.toMatchObject({
      name: 'TransportError',
      code: 'unexpected_answer',
    });
  });

  test('nobody listening is `unreachable`, and says where', async () => {
    const url = await serve(() => undefined);
    open.server?.close();
    await expect((open.transport = make()).send(get(url))).rejects.toMatchObject({
      name: 'TransportError',
      code: 'unreachable',
      message: `${url} cannot be reached: connection refused`,
    });
  });

  test('no answer in time is `timeout`', async () => {
    const url = await serve(() => undefined);
    await expect((open.transport = make()).send(get(url, { timeoutMs: 50 }))).rejects.toMatchObject({
      code: 'timeout',
    });
  });

  test('an abort is `aborted`, before the head and in the body', async () => {
    const stop = new AbortController();
    const url = await serve((request, response) => {
      if (request.url === '/body') response.writeHead(200).flushHeaders();
      else stop.abort();
    });
    const transport = (open.transport = make());
    await expect(transport.send(get(url, { signal: stop.signal }))).rejects.toMatchObject({
      code: 'aborted',
    });
    const later = new AbortController();
    const answer = await transport.send(get(`${url}/body`, { signal: later.signal, idleMs: 0 }));
    const text = answer.text();
    later.abort();
    await expect(text).rejects.toMatchObject({ code: 'aborted' });
  });

  test('a body that stands still is `timeout`', async () => {
    const url = await serve((_request, response) => response.writeHead(200).write('half'));
    const answer = await (open.transport = make()).send(get(url, { idleMs: 50 }));
    await expect(answer.text()).rejects.toMatchObject({ code: 'timeout' });
  });

  test('a body that trickles in is `timeout`, and is read no further', async () => {
    const closed = Promise.withResolvers<unknown>();
    const url = await serve((request, response) => {
      request.socket.once('close', closed.resolve);
      const trickle = setInterval(() => response.write(' '), 10);
      response.once('close', () => clearInterval(trickle));
    });
    const answer = await (open.transport = make()).send(get(url, { idleMs: 50 }));
    await expect(answer.text()).rejects.toMatchObject({ code: 'timeout' });
    await closed.promise;
  });

  test('a body that nobody reads yet is not taken off the wire', async () => {
    const bytes = 32 * 1024 * 1024;
    let wire: Socket | undefined;
    const url = await serve((request, response) => {
      wire = request.socket;
      response.end(Buffer.alloc(bytes, 'x'));
    });
    const answer = await (open.transport = make()).send(get(url));
    for (let turns = 0; turns < 200; turns += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(wire?.writableLength).toBeGreaterThan(bytes / 2);
    let read = 0;
    for await (const chunk of answer.stream()) read += chunk.byteLength;
    expect(read).toBe(bytes);
  });

  test('whoever stops early ends the connection', async () => {
    const closed = Promise.withResolvers<unknown>();
    const url = await serve((request, response) => {
      request.socket.once('close', closed.resolve);
      response.writeHead(200).write('one');
    });
    const answer = await (open.transport = make()).send(get(url, { idleMs: 0 }));
    for await (const chunk of answer.stream()) {
      expect(chunk.byteLength).toBe(3);
      break;
    }
    await closed.promise;
  });

  test('a request that is given up before it begins makes none', async () => {
    let asked = 0;
    const url = await serve((_request, response) => {
      asked += 1;
      response.end();
    });
    const transport = (open.transport = make());
    const stop = new AbortController();
    const answer = transport.send(get(url, { signal: stop.signal }));
    stop.abort();
    await expect(answer).rejects.toMatchObject({ code: 'aborted' });
    await expect(transport.send(get(url, { signal: stop.signal }))).rejects.toMatchObject({
      code: 'aborted',
    });
    expect((await transport.send(get(url))).status).toBe(200);
    expect(asked).toBe(1);
  });

  test('a redirect is an answer, not followed', async () => {
    const url = await serve((_request, response) =>
      response.writeHead(302, { location: '/elsewhere' }).end(),
    );
    expect((await (open.transport = make()).send(get(url))).status).toBe(302);
  });
});

test.each([
  ['http1', http1Transport],
  ['undici', undiciTransport],
])('%s: a stream may go on for longer than the answer may take', async (_, make) => {
  const url = await serve((request, response) => {
    void request.toArray().then(
      (chunks) => response.end(Buffer.concat(chunks as Buffer[])),
      () => undefined, // whoever asked hung up amid it
    );
  });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  async function* body() {
    for (const part of ['one ', 'two ', 'three']) {
      yield Buffer.from(part);
      await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(4_000);
    }
  }
  const transport = (open.transport = make({ proxyFromEnvironment: false }));
  const answer = await transport.send({ ...get(url), method: 'POST', body });
  expect(await answer.text()).toBe('one two three');
});

test('what goes through a proxy of the environment goes on doing so', async () => {
  const proxied: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    proxied.push(request.url);
    response.end();
  });
  vi.stubEnv('http_proxy', url);
  vi.stubEnv('no_proxy', '');
  onTestFinished(() => void vi.unstubAllEnvs());
  open.server?.on('connect', (request, socket) => {
    proxied.push(request.url);
    socket.on('error', () => undefined).end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  const transport = (open.transport = http1Transport());
  expect(transport.proxyFor?.('http://a.example/')).toBe(url);
  await transport.send(get('http://a.example/')).catch(() => undefined);
  expect(proxied).toEqual([expect.stringContaining('a.example')]);
});

test('a connection that rests holds no process', async () => {
  const url = await serve((_request, response) =>
    response.writeHead(200, { 'keep-alive': 'timeout=600' }).end('{}'),
  );
  open.server!.keepAliveTimeout = 0;
  const http1 = JSON.stringify(new URL('http1.ts', import.meta.url).href);
  const program = `
    const { http1Transport } = await import(${http1});
    const answer = await http1Transport().send({ method: 'GET', url: '${url}', headers: {}, timeoutMs: 5000 });
    console.log(await answer.text());`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  expect(stdout).toBe('{}\n');
});

describe.each([
  ['http1', () => http1Transport({ proxyFromEnvironment: false })],
  ['undici', () => undiciTransport({ proxyFromEnvironment: false })],
] as const)('%s', (_, make) => {
  test('a transport that is closed has aborted what went over it, and sends no more', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/body') response.writeHead(200).flushHeaders();
      else void transport.close();
    });
    const transport = make();
    const answer = await transport.send(get(`${url}/body`, { idleMs: 0 }));
    const text = answer.text();
    const aborted = { name: 'TransportError', code: 'aborted' };
    await Promise.all([
      expect(transport.send(get(url))).rejects.toMatchObject(aborted),
      expect(text).rejects.toMatchObject(aborted),
    ]);
    await expect(transport.send(get(url))).rejects.toMatchObject(aborted);
  });
});

describe('sendWithRetries', () => {
  function scripted(...answers: (number | 'reset')[]): Promise<string> {
    return serve((request, response) => {
      const answer = answers.shift();
      if (answer === 'reset') request.socket.destroy();
      else response.writeHead(answer ?? 500, answer === 429 ? { 'retry-after': '3' } : {}).end();
    });
  }

  test('pauses as the row says, and gives the first good answer', async () => {
    const clock = new ManualClock();
    const url = await scripted(503, 'reset', 200);
    const answer = sendWithRetries((open.transport = http1Transport()), get(url), [500, 1000], clock);
    await until(() => clock.timers === 1);
    await clock.advance(500);
    await until(() => clock.timers === 1);
    await clock.advance(999);
    expect(clock.timers).toBe(1);
    await clock.advance(1);
    expect((await answer).status).toBe(200);
  });

  test('a longer Retry-After wins', async () => {
    const clock = new ManualClock();
    const url = await scripted(429, 200);
    const answer = sendWithRetries((open.transport = http1Transport()), get(url), [500], clock);
    await until(() => clock.timers === 1);
    await clock.advance(2_999);
    expect(clock.timers).toBe(1);
    await clock.advance(1);
    expect((await answer).status).toBe(200);
  });

  test('an abort in a pause is `aborted`, as anywhere else', async () => {
    const clock = new ManualClock();
    const stop = new AbortController();
    const url = await scripted(503, 200);
    const answer = sendWithRetries(
      (open.transport = http1Transport()),
      get(url, { signal: stop.signal }),
      [500],
      clock,
    );
    await until(() => clock.timers === 1);
    stop.abort();
    await expect(answer).rejects.toMatchObject({ name: 'TransportError', code: 'aborted' });
    expect(clock.timers).toBe(0);
  });

  test('a wait that is too long is left to the caller', async () => {
    const url = await serve((_request, response) => response.writeHead(429, { 'retry-after': '600' }).end());
    const answer = await sendWithRetries(
      (open.transport = http1Transport()),
      get(url),
      [500],
      new ManualClock(),
    );
    expect([answer.status, answer.headers['retry-after']]).toEqual([429, '600']);
  });

  test('the last answer is given as it is; a refusal is no reason to repeat', async () => {
    const clock = new ManualClock();
    const url = await scripted(400, 200);
    expect((await sendWithRetries((open.transport = http1Transport()), get(url), [500], clock)).status).toBe(
      400,
    );
    expect((await sendWithRetries(open.transport, get(url), [], clock)).status).toBe(200);
    expect((await sendWithRetries(open.transport, get(url), [], clock)).status).toBe(500);
  });
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
