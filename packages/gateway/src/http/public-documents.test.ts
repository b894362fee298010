import { once } from 'node:events';
import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { contract } from '@sallyport/core/contract';
import { describe, expect, test, vi } from 'vitest';
import { openOverHttp } from '../../test/oauth/over-http.ts';
import { createLog } from './log.ts';

const { discovery, openidConfiguration, jwks } = contract.oauth;
const paths = [discovery.path, openidConfiguration.path, jwks.path];

/** What comes on a connection of its own, as it is on the wire but for the time. */
async function raw(port: number, ...requests: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let text = '';
  socket.on('data', (chunk: string) => (text += chunk));
  socket.end(requests.join(''));
  await once(socket, 'close');
  return text.replace(/^date: .*$/gim, 'date');
}

function ask(method: string, path: string, ...headers: readonly string[]): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: here', 'request-id: mine', ...headers, '', ''].join('\r\n');
}

const asked: readonly (readonly [string, ...string[]])[] = [
  ['GET'],
  ['GET', 'Origin: https://one.example'],
  ['GET', 'Origin: https://other.example', 'Authorization: Bearer nothing', 'Accept: text/html'],
  ['GET', 'If-None-Match: "other"'],
  ['GET', 'If-None-Match: *'],
  ['GET', 'Content-Length: 0'],
  ['GET', 'Connection: upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
  ['HEAD'],
  ['HEAD', 'Origin: https://one.example'],
  ['OPTIONS', 'Origin: https://one.example', 'Access-Control-Request-Method: GET'],
  ['POST', 'Content-Length: 0'],
];

describe.each(paths)('%s', (path) => {
  test.each(asked)('is the same past Fastify and through it: %s %j', async (method, ...headers) => {
    await using opened = await openOverHttp({}, {}, { corsOrigins: ['https://one.example'] });
    // A query is nothing to the row, and no plain request's.
    const [direct, through] = [ask(method, path, ...headers), ask(method, `${path}?`, ...headers)];
    expect(await raw(opened.port, direct)).toBe(await raw(opened.port, through));
  });

  test('is answered past Fastify, on one connection in order, whatever comes before and after', async () => {
    await using opened = await openOverHttp();
    const routing = vi.spyOn(opened.app.fastify, 'routing');
    const plain = ask('GET', path);
    const one = await raw(opened.port, plain);
    expect(routing).not.toHaveBeenCalled();
    expect(await raw(opened.port, plain, plain)).toBe(one + one);
  });

  test('is not modified for who has it', async () => {
    await using opened = await openOverHttp();
    const etag = (await opened.call('GET', path)).headers.get('etag') ?? '';
    const again = await opened.call('GET', path, { 'if-none-match': `"a", W/${etag}` });
    expect([again.status, again.headers.get('etag'), again.text]).toEqual([304, etag, '']);
  });

  test('is logged and counted once', async () => {
    const lines: Record<string, unknown>[] = [];
    const write = (chunk: unknown, _encoding: string, done: () => void) => {
      lines.push(JSON.parse(String(chunk)) as Record<string, unknown>);
      done();
    };
    const log = createLog('info', new Writable({ write }));
    await using opened = await openOverHttp({}, {}, { log });
    await opened.call('GET', path, { 'request-id': 'mine' });
    await expect.poll(() => lines.filter(({ msg }) => msg === 'request')).toHaveLength(1);
    const row = [discovery, openidConfiguration, jwks].find((one) => one.path === path)?.id;
    expect(lines.at(-1)).toMatchObject({ request_id: 'mine', row, method: 'GET', url: path, status: 200 });
    const { text } = await opened.call('GET', '/metrics');
    const counted = text.split('\n').filter((line) => line.startsWith('sallyport_requests_total'));
    expect(counted).toEqual([expect.stringMatching(/status="2xx".* 1$/)]);
  });
});

test('the key set tells of a new key at once', async () => {
  await using opened = await openOverHttp();
  const keys = async () => (await opened.call('GET', jwks.path)).headers.get('etag');
  const before = await keys();
  expect(await keys()).toBe(before);
  await opened.server.signer.rotate();
  const { headers, json } = await opened.call('GET', jwks.path);
  expect(headers.get('etag')).not.toBe(before);
  expect((json() as { keys: unknown[] }).keys).toHaveLength(2);
});
