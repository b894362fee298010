import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCli, type RunOptions } from '../../testing/cli.ts';
import { startService, type Answer, type Seen, type Service } from '../../testing/service.ts';
import { storeLogin } from '../../testing/stored-login.ts';

let cwd: string;
let service: Service;
let answer: (request: Seen) => Answer;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-api-'));
  answer = () => ({ body: { b: 1 } });
  service = await startService((request) => answer(request));
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

const api = (args: readonly string[], { env, input }: Partial<RunOptions> = {}) =>
  runCli(['api', ...args], {
    cwd,
    env: { SALLYPORT_BASE_URL: service.baseUrl, SALLYPORT_TOKEN: 'secret', ...env },
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
    expect(service.seen[0]).toMatchObject({
      method: 'GET',
      url: '/v1/sessions/a%2Fb%20c/events/stream?from_seq=3&beta=true',
    });
    expect(service.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer secret',
      accept: 'text/event-stream',
      'last-event-id': '7',
    });
    await api(['sessions.create', '--body', '{"title":"t"}']);
    expect(service.seen[1]).toMatchObject({ method: 'POST', url: '/v1/sessions', body: { title: 't' } });
    expect(service.seen[1]?.headers).toMatchObject({
      'vendor-beta': 'ccr-byoc-2025-07-29',
      'content-type': 'application/json',
    });
  });

  test('by its path is matched with its row, and needs none', async () => {
    await api(['POST', '/v1/sessions', '--body', '-'], { input: '{"title":"t"}' });
    expect(service.seen[0]).toMatchObject({ method: 'POST', url: '/v1/sessions', body: { title: 't' } });
    expect(service.seen[0]?.headers['vendor-beta']).toBe('ccr-byoc-2025-07-29');
    await api(['/v1/of/another/release?a=1', '--query', 'b=2']);
    expect(service.seen[1]).toMatchObject({ method: 'GET', url: '/v1/of/another/release?a=1&b=2' });
    expect(service.seen[1]?.headers).toMatchObject({ authorization: 'Bearer secret' });
    expect(service.seen[1]?.headers['vendor-beta']).toBeUndefined();
  });

  test('carries no bearer where the row takes none, or another credential is given', async () => {
    await api(['oauth.token', '--body', '{}']);
    await api(['oauth.profile', '--header', 'authorization: Bearer other']);
    expect(service.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, 'Bearer other']);
  });

  test('needs a login where the row does', async () => {
    const { exitCode, stderr } = await api(['oauth.profile'], { env: { SALLYPORT_TOKEN: '' } });
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(/sallyport login/);
    expect(await api(['account.bootstrap'], { env: { SALLYPORT_TOKEN: '' } })).toMatchObject({ exitCode: 0 });
  });
});

test('a token of the login that is refused is renewed once', async () => {
  storeLogin(cwd, service.baseUrl, { accessToken: 'old', refreshToken: 'r' });
  answer = ({ url, headers }) => {
    if (url.startsWith('/.well-known/')) return { status: 404, body: {} };
    if (url === '/v1/oauth/token')
      return { body: { access_token: 'new', token_type: 'Bearer', expires_in: 3600, refresh_token: 'r2' } };
    return { status: headers.authorization === 'Bearer new' ? 200 : 401, body: { error: 'invalid_token' } };
  };
  const ran = await api(['sessions.list'], { env: { SALLYPORT_TOKEN: '' } });
  expect(ran).toMatchObject({ exitCode: 0, stderr: '' });
  const calls = service.seen.filter(({ url }) => url === '/v1/sessions');
  expect(calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
});

describe('the token stays at its address', () => {
  test('another one is refused, and nothing is sent', async () => {
    const other = service.baseUrl.replace('127.0.0.1', 'localhost');
    expect(await api([`${other}/v1/sessions`])).toMatchObject({ exitCode: 2, stdout: '' });
    expect(service.seen).toEqual([]);
  });

  test('a redirect is shown, not followed', async () => {
    answer = () => ({ status: 302, headers: { location: 'https://evil.example' } });
    const { stdout } = await api(['/v1/sessions', '--include']);
    expect(stdout).toMatch(/^HTTP 302\n(.*\n)*location: https:\/\/evil\.example\n/);
    expect(service.seen).toHaveLength(1);
  });
});

test('a body that is no JSON is not sent', async () => {
  expect(await api(['POST', '/v1/x', '--body', '{a}'])).toMatchObject({ exitCode: 2, stdout: '' });
  expect(service.seen).toEqual([]);
  const type = 'content-type: application/x-www-form-urlencoded';
  await api(['POST', '/v1/x', '--body', 'a=1', '--header', type]);
  expect(service.seen[0]).toMatchObject({ body: 'a=1' });
});

test('a refusal is printed as it came', async () => {
  answer = () => ({ status: 404, body: { error: 'not_found', error_description: 'Why.', extra: 1 } });
  expect(await api(['/v1/sessions/x', '--json'])).toEqual({
    exitCode: 4,
    stdout: '{"error":"not_found","error_description":"Why.","extra":1}\n',
    stderr: 'error: Why.\nCheck the id, and with `sallyport whoami` the gateway and the organization.\n',
  });
});

test('a login that is missing is told as by every command', async () => {
  const { exitCode, stderr } = await api(['sessions.list'], { env: { SALLYPORT_TOKEN: '' } });
  expect(stderr).toBe(
    `error: There is no login for ${service.baseUrl} on this machine.\nRun \`sallyport login\`.\n`,
  );
  expect(exitCode).toBe(3);
  expect(service.seen).toEqual([]);
});

test('the endpoints are listed', async () => {
  const { stdout } = await api(['--list']);
  expect(stdout).toMatch(/^ID +METHOD +PATH +SUMMARY\n/);
  expect(stdout).toMatch(/^sessions\.list +GET +\/v1\/sessions +The organization's sessions, newest first$/m);
  const rows = JSON.parse((await api(['--list', '--json'])).stdout) as { id: string }[];
  expect(rows.map(({ id }) => id)).toContain('bridge.list');
});
