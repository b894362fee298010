import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createAuthority } from './authority.ts';
import { through } from './through.ts';

let directory: string;
let ca: string;
let server: Http2SecureServer;
let url: string;
const sockets = new WebSocketServer({ noServer: true });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sallyport-tls-'));
  const authority = await createAuthority();
  ca = join(directory, 'ca.pem');
  writeFileSync(ca, authority.ca);
  server = createSecureServer({ ...(await authority.issue()), allowHTTP1: true }, (request, response) => {
    response.setHeader('x-version', request.httpVersion);
    response.setHeader('set-cookie', ['a=1', 'b=2']);
    if (request.method === 'POST') request.pipe(response);
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
