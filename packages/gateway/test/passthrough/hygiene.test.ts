import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServedApp } from '../serve.ts';
import { answer, exchange, rawUpstream, type RawUpstream } from './raw-upstream.ts';
import { through } from './through.ts';

let upstream: RawUpstream;
let served: ServedApp;
beforeAll(async () => {
  upstream = await rawUpstream((socket) => socket.write(answer('upstream')));
  served = await through(upstream.url, { 'areas.oauth': 'off', 'areas.devices': 'off' });
});
afterAll(async () => {
  await served.close();
  await upstream[Symbol.asyncDispose]();
});

async function ask(lines: string): Promise<{ readonly text: string; readonly heads: readonly string[] }> {
  const before = upstream.heads.length;
  const text = await exchange(served.port, lines);
  return { text, heads: upstream.heads.slice(before) };
}

describe('the origin', () => {
  test.each([
    'http://evil.example/v1/models',
    'https://evil.example:1/v1/models',
    'HTTP://user:pass@evil.example/v1/models',
  ])('is not changed by the absolute form: %s', async (target) => {
    const { host } = new URL(target);
    const { heads } = await ask(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(heads).toHaveLength(1);
    expect(heads[0]).toMatch(/^GET \/v1\/models HTTP\/1\.1\r\n/);
    expect(heads[0]).toContain(`host: 127.0.0.1:${upstream.port}\r\n`);
  });

  test.each([
    '//evil.example/v1/models',
    '/\\evil.example/v1/models',
    'http://evil.example//evil.example/v1/models',
    '@evil.example/v1/models',
    '*',
    'evil.example:443',
  ])('is not changed by the path: %s', async (target) => {
    const { text, heads } = await ask(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(heads).toEqual([]);
  });

  test('is not asked for by CONNECT', async () => {
    const { text, heads } = await ask('CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n');
    expect(text).not.toMatch(/^HTTP\/1\.1 2/);
    expect(heads).toEqual([]);
  });
});

// What is off here must not be reached by another name: the upstream takes such a path for /v1/oauth/token.
test.each([
  '/v1/files/../oauth/token',
  '/v1/files/%2e%2e/oauth/token',
  '/v1/files/.%2E/oauth/token',
  '/v1/files/x/..%2f..%2foauth/token',
  '/v1/files/%252e%252e/oauth/token',
  '/v1/files/..\\oauth\\token',
  '/v1/files/..;/oauth/token',
  '/v1/files/..;a=b/oauth/token',
  '/v1/files/./x',
  '/v1/files/%2e',
  '/v1/files/x%00',
  '/v1/files/100%',
  '/v1/files/x#/../oauth',
  // To an upstream that decodes before it routes, the poll of an environment.
  '/v1/environments/e%2Fwork%2Fpoll',
  '/v1/environments/e%5Cwork%5Cpoll',
])('a path that leaves its place is refused: %s', async (path) => {
  const { text, heads } = await ask(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  expect(text).toMatch(/^HTTP\/1\.1 (400|404) /);
  expect(heads).toEqual([]);
});

test.each([
  '/v1/files/a..b',
  '/v1/files/...',
  '/v1/files/.hidden',
  '/v1/files/a%2Fb',
  '/v1/files/a;b',
  '/v1/files?path=../x',
  '/v1/files/',
  '/v1/files/%E2%82%AC',
])('a path that only looks odd is passed on as it is: %s', async (path) => {
  const { heads } = await ask(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  expect(heads[0]?.split('\r\n')[0]).toBe(`GET ${path} HTTP/1.1`);
});

const smuggled = 'GET /v1/oauth/token HTTP/1.1\r\nHost: x\r\nX-Smuggled: 1\r\n\r\n';
test.each([
  [
    'both framings',
    `Content-Length: ${smuggled.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
  ],
  ['two lengths', `Content-Length: 0\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`],
  ['a list of lengths', `Content-Length: 0, ${smuggled.length}\r\n\r\n${smuggled}`],
  ['a length with a sign', `Content-Length: +0\r\n\r\n${smuggled}`],
  ['another coding', `Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['chunked, but not last', `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`],
  ['chunked twice', `Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['a coding with a tab', `Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['a space before the colon', `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['a folded header', `X-A: 1\r\n Transfer-Encoding: chunked\r\n\r\n${smuggled}`],
  ['a bare line feed', `X-A: 1\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
  ['a broken chunk size', `Transfer-Encoding: chunked\r\n\r\n0x5\r\nabcde\r\n0\r\n\r\n${smuggled}`],
  ['a chunk that ends too late', `Transfer-Encoding: chunked\r\n\r\n1\r\nabcdef\r\n0\r\n\r\n${smuggled}`],
  ['a chunk size with a space', `Transfer-Encoding: chunked\r\n\r\n5 \r\nabcde\r\n0\r\n\r\n${smuggled}`],
  ['a chunk size with a bare line feed', `Transfer-Encoding: chunked\r\n\r\n0\nabc\r\n\r\n${smuggled}`],
  ['a chunk extension with a bare line feed', `Transfer-Encoding: chunked\r\n\r\n0;a\nb\r\n\r\n${smuggled}`],
  ['an endless chunk extension', `Transfer-Encoding: chunked\r\n\r\n5;${'a'.repeat(20_000)}\r\nabcde\r\n`],
  [
    'a chunk that ends with a bare line feed',
    `Transfer-Encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n${smuggled}`,
  ],
  ['a folded trailer', `Transfer-Encoding: chunked\r\n\r\n0\r\nX-A: 1\r\n b\r\n\r\n${smuggled}`],
  ['two hosts', `Host: y\r\nContent-Length: 0\r\n\r\n`],
])('a request with %s is refused, and nothing is smuggled', async (_name, framed) => {
  const { text, heads } = await ask(
    `POST /v1/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${framed}`,
  );
  expect(text).toMatch(/^HTTP\/1\.1 400 /);
  expect(heads.join()).not.toContain('Smuggled');
});

const chunked = 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
test.each([
  ['a coding that its version has not', `POST /v1/messages HTTP/1.0\r\nHost: x\r\n${chunked}`],
  [
    'such a coding on a connection that is kept',
    `POST /v1/logs HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\n${chunked}${smuggled}`,
  ],
  ['a version that is none of ours', 'GET /v1/models HTTP/2.0\r\nHost: x\r\n\r\n'],
  ['no version', 'GET /v1/models\r\n\r\n'],
  ...['a b', 'a, b', 'me@x', 'x/y', 'x?y', 'x#y', 'x"', 'x\\y', 'x:y', '[::1', 'x:1:2', '\xe9'].map(
    (host) => [`the host ${host}`, `GET /v1/models HTTP/1.1\r\nHost: ${host}\r\n\r\n${smuggled}`],
  ),
])('a request with %s is refused, and the last of its connection', async (_name, lines = '') => {
  const { text, heads } = await ask(lines);
  expect(text).toMatch(/^HTTP\/1\.1 400 [^]*\r\nconnection: close\r\n/i);
  expect(text).not.toMatch(/HTTP\/1\.1 [^4]/);
  expect(heads).toEqual([]);
});

test.each(['x', 'front.example:8080', '127.0.0.1:1', '[::1]', '[fe80::1]:8787', 'a_b-c.example.', ''])(
  'a request to the host %j is passed on',
  async (host) => {
    const { heads } = await ask(`GET /v1/models HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(heads).toHaveLength(1);
    expect(/\r\nx-forwarded-host: (.*)/.exec(heads[0] ?? '')?.[1]).toBe(host === '' ? undefined : host);
  },
);

test.each([
  ['a body', '1.1', `Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`],
  ['a body in chunks', '1.1', `Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a version without upgrades', '1.0', '\r\n'],
])('an upgrade with %s is none', async (_name, version, rest) => {
  await using plain = await rawUpstream((socket) =>
    socket.end(answer('', { headers: 'connection: close\r\n' })),
  );
  await using other = await through(plain.url);
  const text = await exchange(
    other.port,
    `GET /api/ws/voice/one HTTP/${version}\r\nHost: x\r\nConnection: close, Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${rest}`,
  );
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect(plain.heads).toHaveLength(1);
  expect(plain.heads[0]).not.toMatch(/upgrade/i);
});

test('chunk extensions, which nobody here understands, end here', async () => {
  let body = '';
  await using listening = await rawUpstream((socket, _head, rest) => {
    const take = (bytes: Buffer) => {
      body += bytes.toString();
      if (body.endsWith('0\r\n\r\n')) socket.write(answer('ok'));
    };
    take(rest);
    socket.on('data', take);
  });
  await using other = await through(listening.url);
  const text = await exchange(
    other.port,
    'POST /v1/messages HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n' +
      '005;a="b;c"\r\nhello\r\n0;last\r\n\r\n',
  );
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect(body).toBe('5\r\nhello\r\n0\r\n\r\n');
});

test('a length that Connection names is not lost', async () => {
  const body = `{"a":1}`;
  const { text, heads } = await ask(
    `POST /v1/messages HTTP/1.1\r\nHost: x\r\nConnection: close, content-length\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
  expect(heads).toHaveLength(1);
  expect(heads[0]).toMatch(/\r\ncontent-length: 7/i);
});

test('a request for what is off is 404, discovery too', async () => {
  for (const path of [
    '/.well-known/oauth-authorization-server',
    '/v1/oauth/token',
    '/login',
    '/api/auth/trusted_devices',
  ]) {
    const { text, heads } = await ask(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect([path, text.slice(0, 12), heads]).toEqual([path, 'HTTP/1.1 404', []]);
  }
});

test('headers over 16 KiB are refused, and an answer with such is 502', async () => {
  const big = `X-Big: ${'x'.repeat(17_000)}\r\n`;
  const { text } = await ask(`GET /v1/models HTTP/1.1\r\nHost: x\r\n${big}\r\n`);
  expect(text).toMatch(/^HTTP\/1\.1 431 /);
  await using verbose = await rawUpstream((socket) => socket.write(answer('', { headers: big })));
  await using other = await through(verbose.url);
  expect((await fetch(`${other.url}/v1/models`)).status).toBe(502);
});
