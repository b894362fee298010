import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { undiciTransport } from '../transport/undici.ts';
import type { SocketMessage } from '../transport/upgrade.ts';
import { createClient } from './client.ts';

const http = createServer();
const servers: Server[] = [];
const transport = undiciTransport({ proxyFromEnvironment: false });
let sockets: WebSocketServer;
let asked: IncomingMessage[];
/** What is done with each; `verify` first. */
let meet: (socket: WebSocket) => void;
let verify: (request: IncomingMessage) => [status: number, body: string] | undefined;
let token: (forced: boolean) => string;

beforeEach(async () => {
  asked = [];
  meet = (socket) => socket.on('message', (data, binary) => socket.send(data, { binary }));
  verify = () => undefined;
  token = () => 't0';
  http.removeAllListeners('upgrade');
  sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (protocols) => [...protocols].at(-1) ?? false,
  });
  http.on('upgrade', (request, socket, head) => {
    asked.push(request);
    const [status, body] = verify(request) ?? [101, ''];
    if (status !== 101)
      socket
        .on('error', () => undefined)
        .end(`HTTP/1.1 ${status} No\r\nRequest-Id: req_1\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    else sockets.handleUpgrade(request, socket, head, (open) => meet(open.on('error', () => undefined)));
  });
  if (!http.listening) {
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
  }
});
afterEach(() => {
  for (const socket of sockets.clients) socket.terminate();
  http.close();
  for (const server of servers.splice(0)) server.close();
});

function voiceAt({ port } = http.address() as AddressInfo) {
  const baseUrl = `http://127.0.0.1:${port}/prefix`;
  const tokens = { token: async ({ forceRefresh = false } = {}) => token(forceRefresh) };
  const dialect = { vendor: 'acme', agent: 'robot' };
  return createClient({ baseUrl, transport, tokens, dialect }).voice;
}

async function all(messages: AsyncIterable<SocketMessage>): Promise<SocketMessage[]> {
  const seen: SocketMessage[] = [];
  for await (const message of messages) seen.push(message);
  return seen;
}

test('a WebSocket is opened below its family with login, headers, query and subprotocols', async () => {
  await using socket = await voiceAt()
    .at('one/../x', 'live')
    .connect({ headers: { 'vendor-beta': 'b' }, query: { lang: 'en' }, protocols: ['first', 'second'] });
  expect(asked[0]?.url).toBe('/prefix/api/ws/voice/one%2F..%2Fx/live?lang=en');
  expect(asked[0]?.headers).toMatchObject({
    authorization: 'Bearer t0',
    'acme-beta': 'b',
    'request-id': expect.stringMatching(/^req_/) as string,
    'sec-websocket-protocol': 'first,second',
  });
  expect(socket.protocol).toBe('second');
});

test('text, bytes and objects go out, and come back in their order until it is closed', async () => {
  const socket = await voiceAt().connect();
  await Promise.all([socket.send('text'), socket.send(Buffer.from([0, 255])), socket.send({ a: 1 })]);
  const seen = all(socket);
  expect(await socket.close(1000, 'done')).toEqual({ code: 1000, reason: 'done' });
  expect(await seen).toEqual(['text', Buffer.from([0, 255]), '{"a":1}']);
  await expect(socket.send('late')).rejects.toMatchObject({ code: 'unreachable' });
});

test('whoever stops reading closes it', async () => {
  const closed = Promise.withResolvers<number>();
  meet = (socket) => socket.on('close', closed.resolve).send('one');
  for await (const message of await voiceAt().connect()) {
    expect(message).toBe('one');
    break;
  }
  expect(await closed.promise).toBe(1000);
});

test('a close of the other side ends the reading, with its code and reason', async () => {
  meet = (socket) => socket.close(4003, 'enough');
  const socket = await voiceAt().connect();
  expect(await all(socket)).toEqual([]);
  expect(await socket.ended).toEqual({ code: 4003, reason: 'enough' });
});

test('a connection that breaks off is a failure of the network', async () => {
  meet = (socket) => void setImmediate(() => socket.terminate());
  const socket = await voiceAt().connect();
  await expect(all(socket)).rejects.toMatchObject({ code: 'unreachable' });
  expect(await socket.ended).toMatchObject({ code: 1006 });
});

test('a refusal is thrown with its status and its words', async () => {
  verify = () => [403, '{"error":"forbidden","error_description":"No voice for you.","request_id":"req_2"}'];
  await expect(voiceAt().connect()).rejects.toMatchObject({
    ...{ name: 'ServiceError', status: 403, code: 'forbidden' },
    ...{ message: 'No voice for you.', requestId: 'req_2' },
  });
  verify = () => [503, 'gone'];
  await expect(voiceAt().connect()).rejects.toMatchObject({ status: 503, requestId: 'req_1' });
  expect(asked).toHaveLength(2);
});

test('a token that is refused is renewed once', async () => {
  token = (forced) => (forced ? 'new' : 'old');
  verify = ({ headers }) =>
    headers.authorization === 'Bearer new' ? undefined : [401, '{"error":"invalid_token"}'];
  await using socket = await voiceAt().connect();
  expect(socket.status).toBe(101);
  expect(asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
});

test('nobody there is unreachable', async () => {
  const { port } = http.address() as AddressInfo;
  http.close();
  await once(http, 'close');
  await expect(voiceAt({ port } as AddressInfo).connect()).rejects.toMatchObject({ code: 'unreachable' });
});

test('an abort ends the opening', async () => {
  const held: Socket[] = [];
  const silent = createTcpServer((socket) => void held.push(socket.on('error', () => undefined).resume()));
  servers.push(silent.listen(0, '127.0.0.1'));
  await once(silent, 'listening');
  const abort = new AbortController();
  const opening = voiceAt(silent.address() as AddressInfo).connect({ signal: abort.signal });
  const [socket] = (await once(silent, 'connection')) as [Socket];
  abort.abort();
  await expect(opening).rejects.toMatchObject({ code: 'aborted' });
  if (!socket.destroyed) await once(socket, 'close');
  await expect(voiceAt().connect({ signal: abort.signal })).rejects.toMatchObject({ code: 'aborted' });
  expect(asked).toEqual([]);
});

test('an abort says goodbye to an open one, and fails its reader', async () => {
  const closed = Promise.withResolvers<number>();
  meet = (socket) => void socket.on('close', closed.resolve);
  const abort = new AbortController();
  const socket = await voiceAt().connect({ signal: abort.signal });
  const reading = all(socket);
  abort.abort();
  await expect(reading).rejects.toMatchObject({ code: 'aborted' });
  expect(await closed.promise).toBe(1000);
});

test('what is not read holds up its sender, and a close gets past it', async () => {
  let left = 400;
  meet = (socket) => {
    const chunk = Buffer.alloc(64 * 1024);
    const next = () => {
      if (left > 0) socket.send(chunk, next);
      left -= 1;
    };
    next();
  };
  const socket = await voiceAt().connect();
  for (let before = Infinity, turns = 0; turns < 500; turns = before === left ? turns + 1 : 0) {
    before = left;
    await new Promise(setImmediate);
  }
  // What the kernel takes for both sides is a few MiB; all of it is 25.
  expect(left).toBeGreaterThan(100);
  expect(await socket.close()).toMatchObject({ code: 1000 });
});

test('a message beyond the bound ends it', async () => {
  meet = (socket) => socket.send('x'.repeat(101));
  const socket = await voiceAt().connect({ maxMessageBytes: 100 });
  await expect(all(socket)).rejects.toThrow(/payload/);
});
