import { afterAll, beforeAll, expect, test } from 'vitest';
import { runGateway, type RunningGateway } from '../oauth/running-gateway.ts';
import type { ServedApp } from '../serve.ts';
import { answer, exchange, rawUpstream, type RawUpstream } from './raw-upstream.ts';
import { through } from './through.ts';

// What can be read in two ways is refused whichever way a request takes through the gateway: before credentials are looked
// at, in the one shape of errors, and as the last request of its connection.

let local: RunningGateway;
let upstream: RawUpstream;
let passing: ServedApp;
beforeAll(async () => {
  local = await runGateway();
  upstream = await rawUpstream((socket) => socket.write(answer('upstream')));
  passing = await through(upstream.url, { 'areas.oauth': 'off', 'areas.devices': 'off' });
});
afterAll(async () => {
  await local.close();
  await passing.close();
  await upstream[Symbol.asyncDispose]();
});

const here = () => Number(new URL(local.url).port);
const there = () => passing.port;
const handshake =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n';

const ways: readonly [string, () => number, string, string][] = [
  ['a row', here, 'POST /v1/sessions', ''],
  ['a row past Fastify', here, 'GET /v1/environments/env_1/work/poll', ''],
  ['a document', here, 'GET /.well-known/jwks.json', ''],
  ['a page', here, 'GET /login', ''],
  ['the health', here, 'GET /healthz', ''],
  ['the metrics', here, 'GET /metrics', ''],
  ['a path that is not there', here, 'GET /nowhere', ''],
  ['a family without an upstream', here, 'GET /v1/models', ''],
  ['an upgrade', here, 'GET /v1/environments/env_1/bridge/ws', handshake],
  ['a row that passes through', there, 'POST /v1/sessions', ''],
  ['a family that passes through', there, 'GET /v1/models', ''],
  ['a row that is kept for its upstream', there, 'POST /v1/logs', ''],
  ['an upgrade that passes through', there, 'GET /api/ws/voice/one', handshake],
];

const second = 'GET /healthz HTTP/1.1\r\nHost: x\r\nX-Smuggled: 1\r\n\r\n';
/** The rest of a request after its method and target, with the headers of its way. */
const kinds: Readonly<Record<string, (headers: string) => string>> = {
  'two hosts': (headers) => ` HTTP/1.1\r\nHost: x\r\nHost: y\r\n${headers}\r\n`,
  'two hosts that are one': (headers) => ` HTTP/1.1\r\nHost: x\r\n${headers}host: x\r\n\r\n`,
  'no host': (headers) => ` HTTP/1.1\r\n${headers}\r\n`,
  'a host with a user': (headers) => ` HTTP/1.1\r\nHost: a@127.0.0.1.example\r\n${headers}\r\n`,
  'a list of hosts': (headers) => ` HTTP/1.1\r\nHost: x, y\r\n${headers}\r\n`,
  'a host with a path': (headers) => ` HTTP/1.1\r\nHost: x/y\r\n${headers}\r\n`,
  'two lengths': (headers) =>
    ` HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: 0\r\nContent-Length: 5\r\n\r\n${second}`,
  'both framings': (headers) =>
    ` HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${second}`,
  'another coding': (headers) =>
    ` HTTP/1.1\r\nHost: x\r\n${headers}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${second}`,
  'a coding that its version has not': (headers) =>
    ` HTTP/1.0\r\nHost: x\r\n${headers}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${second}`,
  'a version that is none of ours': (headers) => ` HTTP/2.0\r\nHost: x\r\n${headers}\r\n${second}`,
  'a folded header': (headers) => ` HTTP/1.1\r\nHost: x\r\n${headers}X-A: 1\r\n b\r\n\r\n${second}`,
  'a bare line feed': (headers) => ` HTTP/1.1\r\nHost: x\r\n${headers}X-A: 1\nX-B: 2\r\n\r\n${second}`,
  'a space before a colon': (headers) => ` HTTP/1.1\r\nHost: x\r\n${headers}X-A : 1\r\n\r\n${second}`,
};

async function expectRefused(port: number, lines: string): Promise<void> {
  const before = upstream.heads.length;
  const text = await exchange(port, lines);
  expect(text).toMatch(/^HTTP\/1\.1 400 [^]*\r\nconnection: close\r\n/i);
  // One answer, with nothing behind it.
  expect(text.split('HTTP/1.1 '), text).toHaveLength(2);
  const [head = '', body = ''] = text.split('\r\n\r\n');
  expect(head).toMatch(/\r\nrequest-id: /i);
  expect(JSON.parse(body)).toMatchObject({
    error: 'invalid_request',
    request_id: expect.any(String) as string,
  });
  expect(upstream.heads).toHaveLength(before);
}

test.each(ways)('ambiguous requests are refused by %s', async (_name, port, start, headers) => {
  for (const [kind, rest] of Object.entries(kinds))
    await expect(expectRefused(port(), start + rest(headers)), kind).resolves.toBeUndefined();
  const [method = '', path = ''] = start.split(' ');
  const another = `${method} http://y${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
  await expect(expectRefused(port(), another), 'another host in the target').resolves.toBeUndefined();
});
