import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCli, type RunOptions } from '../../testing/cli.ts';

let cwd: string;
let server: Server;
let baseUrl: string;
let seen: (IncomingMessage & { body: string })[];
let answer: RequestListener;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-api-'));
  seen = [];
  answer = json(200, { b: 1 });
  server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      seen.push(Object.assign(request, { body: Buffer.concat(chunks as Buffer[]).toString() }));
      answer(request, response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
  rmSync(cwd, { recursive: true, force: true });
});

function json(status: number, body: unknown): RequestListener {
  return (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const api = (args: readonly string[], { env, input }: Partial<RunOptions> = {}) =>
  runCli(['api', ...args], {
    cwd,
    env: { SALLYPORT_BASE_URL: baseUrl, SALLYPORT_TOKEN: 'secret', ...env },
    ...(input !== undefined && { input }),
  });

describe('a call', () => {
  test('by the id of its row has path, query, bearer and beta', async () => {
    const ran = await api([
      'sessions.stream',
      ...['--param', 'id=a/b c'],
      ...['--query', 'from_seq=3', '--query', 'beta=true'],
      ...['--header', 'Last-Event-ID: 7'],
    ]);
    expect(ran).toEqual({ exitCode: 0, stdout: '{"b":1}\n', stderr: '' });
    expect(seen[0]).toMatchObject({
      method: 'GET',
      url: '/v1/sessions/a%2Fb%20c/events/stream?from_seq=3&beta=true',
    });
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer secret',
      accept: 'text/event-stream',
      'last-event-id': '7',
    });
    await api(['sessions.create', '--body', '{"title":"t"}']);
    expect(seen[1]).toMatchObject({ method: 'POST', url: '/v1/sessions', body: '{"title":"t"}' });
    expect(seen[1]?.headers).toMatchObject({
      'vendor-beta': 'ccr-byoc-2025-07-29',
      'content-type': 'application/json',
    });
  });

  test('by its path is matched with its row, and needs none', async () => {
    await api(['POST', '/v1/sessions', '--body', '-'], { input: '{"title":"t"}' });
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/v1/sessions', body: '{"title":"t"}' });
    expect(seen[0]?.headers['vendor-beta']).toBe('ccr-byoc-2025-07-29');
    await api(['/v1/of/another/release?a=1', '--query', 'b=2']);
    expect(seen[1]).toMatchObject({ method: 'GET', url: '/v1/of/another/release?a=1&b=2' });
    expect(seen[1]?.headers).toMatchObject({ authorization: 'Bearer secret' });
    expect(seen[1]?.headers['vendor-beta']).toBeUndefined();
  });

  test('carries no bearer where the row takes none, or another credential is given', async () => {
    await api(['oauth.token', '--body', '{}']);
    await api(['oauth.profile', '--header', 'authorization: Bearer other']);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer other']);
  });

  test('needs a login where the row does', async () => {
    const { exitCode, stderr } = await api(['oauth.profile'], { env: { SALLYPORT_TOKEN: '' } });
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/sallyport login/);
    expect(await api(['account.bootstrap'], { env: { SALLYPORT_TOKEN: '' } })).toMatchObject({ exitCode: 0 });
  });
});

test('a token of the login that is refused is renewed once', async () => {
  const logins = join(cwd, 'config/state/logins');
  mkdirSync(logins, { recursive: true, mode: 0o700 });
  const login = {
    ...{ version: 1, baseUrl, clientId: 'c', scope: 'vendor_api' },
    ...{ accessToken: 'old', refreshToken: 'r', expiresAt: Date.now() + 3_600_000 },
  };
  writeFileSync(join(logins, `${encodeURIComponent(baseUrl)}.json`), JSON.stringify(login), { mode: 0o600 });
  answer = (request, response) => {
    if (request.url?.startsWith('/.well-known/') === true) return json(404, {})(request, response);
    if (request.url === '/v1/oauth/token')
      return json(200, { access_token: 'new', token_type: 'Bearer', expires_in: 3600, refresh_token: 'r2' })(
        request,
        response,
      );
    return json(request.headers.authorization === 'Bearer new' ? 200 : 401, { error: 'invalid_token' })(
      request,
      response,
    );
  };
  const ran = await api(['sessions.list'], { env: { SALLYPORT_TOKEN: '' } });
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  const calls = seen.filter(({ url }) => url === '/v1/sessions');
  expect(calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
});

describe('the token stays at its address', () => {
  test('another one is refused, and nothing is sent', async () => {
    const other = baseUrl.replace('127.0.0.1', 'localhost');
    expect(await api([`${other}/v1/sessions`])).toMatchObject({ exitCode: 2, stdout: '' });
    expect(seen).toEqual([]);
  });

  test('a redirect is shown, not followed', async () => {
    answer = (_request, response) => response.writeHead(302, { location: 'https://evil.example' }).end();
    const { stdout } = await api(['/v1/sessions', '--include']);
    expect(stdout).toMatch(/^HTTP 302\n(.*\n)*location: https:\/\/evil\.example\n/);
    expect(seen).toHaveLength(1);
  });
});

test('a body that is no JSON is not sent', async () => {
  expect(await api(['POST', '/v1/x', '--body', '{a}'])).toMatchObject({ exitCode: 2, stdout: '' });
  expect(seen).toEqual([]);
  const type = 'content-type: application/x-www-form-urlencoded';
  await api(['POST', '/v1/x', '--body', 'a=1', '--header', type]);
  expect(seen[0]).toMatchObject({ body: 'a=1' });
});

test('a refusal is printed as it came', async () => {
  answer = json(404, { error: 'not_found', error_description: 'Why.', extra: 1 });
  expect(await api(['/v1/sessions/x', '--json'])).toEqual({
    exitCode: 4,
    stdout: '{"error":"not_found","error_description":"Why.","extra":1}\n',
    stderr: 'error: Why.\nCheck the id, and with `sallyport whoami` the gateway and the organization.\n',
  });
});

test('the endpoints are listed', async () => {
  const { stdout } = await api(['--list']);
  expect(stdout).toMatch(/^ID +METHOD +PATH +SUMMARY\n/);
  expect(stdout).toMatch(/^sessions\.list +GET +\/v1\/sessions +The organization's sessions, newest first$/m);
  const rows = JSON.parse((await api(['--list', '--json'])).stdout) as { id: string }[];
  expect(rows.map(({ id }) => id)).toContain('bridge.list');
});
