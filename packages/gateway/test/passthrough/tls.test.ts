import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createSecureServer, type Http2SecureServer, type Http2ServerResponse } from 'node:http2';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { undiciClient } from '../../src/passthrough/over-undici.ts';
import { responseTo } from '../response-to.ts';
import { createAuthority } from './authority.ts';
import { answer, until } from './raw-upstream.ts';
import { through } from './through.ts';

let directory: string;
let ca: string;
let server: Http2SecureServer;
let url: string;
const sockets = new WebSocketServer({ noServer: true });

/** What the upstream says next in an event stream; nothing: that was all. */
const steps: ((text: string) => void)[] = [];
let gone = 0;

async function tell(response: Http2ServerResponse): Promise<void> {
  response.on('close', () => (gone += response.writableEnded ? 0 : 1));
  response.writeHead(200, { 'content-type': 'text/event-stream', trailer: 'x-sum' });
  response.write('');
  for (let said = 0; ; said++) {
    const text = await new Promise<string>((resolve) => steps.push(resolve));
    if (text !== '') response.write(text);
    else return void (response.addTrailers({ 'x-sum': String(said) }), response.end());
  }
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sallyport-tls-'));
  const authority = await createAuthority();
  ca = join(directory, 'ca.pem');
  writeFileSync(ca, authority.ca);
  server = createSecureServer({ ...(await authority.issue()), allowHTTP1: true }, (request, response) => {
    response.setHeader('x-version', request.httpVersion);
    response.setHeader('set-cookie', ['a=1', 'b=2']);
    if (request.url.endsWith('?events')) void tell(response);
    else if ('trailer' in request.headers)
      request.resume().on('end', () => response.end(JSON.stringify(request.trailers)));
    else if (request.method === 'POST') request.pipe(response);
    else response.end('hello');
  });
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    sockets.handleUpgrade(request, socket, head, (opened) =>
      opened.on('message', (data) => opened.send(data)),
    ),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  for (const client of sockets.clients) client.terminate();
  server.close();
  rmSync(directory, { recursive: true });
});

test('an upstream whose authority nobody knows is not trusted', async () => {
  await using served = await through(url);
  expect((await fetch(`${served.url}/v1/models`)).status).toBe(502);
});

test('with upstream.ca it is, over HTTP/1.1', async () => {
  await using served = await through(url, { 'upstream.ca': ca });
  const response = await fetch(`${served.url}/v1/models`);
  expect([response.headers.get('x-version'), await response.text()]).toEqual(['1.1', 'hello']);
});

test('HTTP/2 carries answers, repeated headers and bodies, where both sides like it', async () => {
  await using served = await through(url, { 'upstream.ca': ca, 'upstream.http2': true });
  const [plain, posted, big] = await Promise.all([
    fetch(`${served.url}/v1/models`),
    fetch(`${served.url}/v1/messages`, { method: 'POST', body: 'small' }),
    fetch(`${served.url}/v1/files`, { method: 'POST', body: 'x'.repeat(1_000_000) }),
  ]);
  expect([plain.headers.get('x-version'), plain.headers.getSetCookie()]).toEqual(['2.0', ['a=1', 'b=2']]);
  expect([...plain.headers.keys()].some((name) => name.startsWith(':'))).toBe(false);
  expect([await plain.text(), await posted.text(), (await big.text()).length]).toEqual([
    'hello',
    'small',
    1_000_000,
  ]);
});

test.each([true, false])(
  'a request that never left is sent again, whatever it is (HTTP/2: %s)',
  async (http2) => {
    let cuts = 1;
    // Between the gateway and the upstream: the first handshake breaks off.
    const relay = createServer((socket) => {
      socket.on('error', () => undefined);
      if (cuts-- > 0) return void socket.once('data', () => socket.resetAndDestroy());
      const to = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
      socket.pipe(to).pipe(socket);
    }).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const address = `https://127.0.0.1:${(relay.address() as AddressInfo).port}`;
    await using served = await through(address, { 'upstream.ca': ca, 'upstream.http2': http2 });
    const response = await fetch(`${served.url}/v1/messages`, { method: 'POST', body: 'once' });
    expect([response.status, await response.text(), cuts]).toEqual([200, 'once', -1]);
    relay.close();
  },
);

test('HTTP/2 carries events as they come, trailers, and the end of a caller', async () => {
  await using served = await through(url, { 'upstream.ca': ca, 'upstream.http2': true });
  const response = await responseTo(`${served.url}/v1/messages?events`);
  expect([response.headers['x-version'], response.headers['x-accel-buffering']]).toEqual(['2.0', 'no']);
  const next = async (text: string) => {
    steps.shift()?.(text);
    expect(String((await once(response, 'data'))[0])).toBe(text);
  };
  await next('data: 1\n\n');
  await next('data: 2\n\n');
  steps.shift()?.('');
  response.resume();
  await once(response, 'end');
  expect(response.rawTrailers).toEqual(['x-sum', '2']);

  const other = await responseTo(`${served.url}/v1/messages?events`);
  other.destroy();
  await until(() => gone === 1);
});

test('what HTTP/2 falls back to has reasons that can be passed on, or none', async () => {
  const authority = await createAuthority();
  const offersHttp1 = createTlsServer(
    { ...(await authority.issue()), ALPNProtocols: ['http/1.1'] },
    (socket) =>
      socket
        .on('error', () => undefined)
        .once('data', () => socket.end(answer('ok', { status: '200 \u2713' }))),
  ).listen(0, '127.0.0.1');
  await once(offersHttp1, 'listening');
  const client = undiciClient(`https://127.0.0.1:${(offersHttp1.address() as AddressInfo).port}`, {
    ...{ connections: 1, timeoutMs: 5_000, waitingBytes: 1024, ca: [authority.ca] },
  });
  const reason = await new Promise<string>((resolve, failed) =>
    client.dispatch(
      { method: 'GET', path: '/', headers: [], body: null, idleMs: 0 },
      { head: (head) => resolve(head.reason), data: () => undefined, end: () => undefined, failed },
    ),
  );
  expect(reason).toBe('');
  await client.close();
  offersHttp1.close();
});

test('requests that announce trailers go over HTTP/1.1 meanwhile, with them', async () => {
  await using served = await through(url, { 'upstream.ca': ca, 'upstream.http2': true });
  const request = httpRequest(`${served.url}/v1/messages`, {
    ...{ method: 'POST', headers: { trailer: 'x-sum' } },
  });
  request.write('body');
  request.addTrailers({ 'x-sum': '4' });
  const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
  const text = Buffer.concat((await response.toArray()) as Buffer[]).toString();
  expect([response.headers['x-version'], text]).toEqual(['1.1', '{"x-sum":"4"}']);
});

test('WebSockets go over HTTP/1.1 meanwhile', async () => {
  await using served = await through(url, { 'upstream.ca': ca, 'upstream.http2': true });
  await fetch(`${served.url}/v1/models`);
  const socket = new WebSocket(`ws://127.0.0.1:${served.port}/api/ws/voice/one`);
  await once(socket, 'open');
  socket.send('echo');
  expect(String((await once(socket, 'message'))[0])).toBe('echo');
  socket.close();
  await once(socket, 'close');
});

test.each([
  ['is not there', 'nowhere.pem', 'cannot be read'],
  ['has no certificates', 'empty.pem', 'has none'],
])('an upstream.ca that %s is an error at the start', async (_name, file, says) => {
  writeFileSync(join(directory, 'empty.pem'), 'nothing\n');
  await expect(through(url, { 'upstream.ca': join(directory, file) })).rejects.toThrow(says);
});
