import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runHere } from '../../testing/cli.ts';
import { startService, type Answer, type Service } from '../../testing/service.ts';

let cwd: string;
let service: Service;
let answers: Record<string, Answer>;
let date: (() => string) | undefined;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'sallyport-doctor-'));
  date = undefined;
  answers = { 'GET /readyz': { body: { status: 'ready', checks: { store: 'ok' } } } };
  service = await startService(({ method, url }, response) => {
    response.sendDate = date === undefined;
    if (date !== undefined) response.setHeader('date', date());
    return answers[`${method} ${url}`] ?? { status: 404, body: { error: 'not_found' } };
  });
});
afterEach(() => {
  service.close();
  rmSync(cwd, { recursive: true, force: true });
});

interface Told {
  readonly check: string;
  readonly status: string;
  readonly says: string;
  readonly fix?: string;
}

async function doctor(env: NodeJS.ProcessEnv = {}) {
  const { exitCode, stdout } = await runHere(['doctor', '--json'], {
    cwd,
    env: { SALLYPORT_BASE_URL: service.baseUrl, ...env },
  });
  const { ok, findings } = JSON.parse(stdout) as { ok: boolean; findings: Told[] };
  expect(exitCode).toBe(ok ? 0 : 1);
  return { exitCode, findings, of: (check: string) => findings.find((finding) => finding.check === check) };
}

describe('a WebSocket', () => {
  const stream = 'GET /v1/code/sessions/doctor/worker/events/stream';

  test('that is refused by the gateway came through', async () => {
    service.server.on('upgrade', (_request, socket) =>
      socket
        .on('error', () => undefined)
        .end('HTTP/1.1 401 No\r\nSec-WebSocket-Version: 13\r\nContent-Length: 0\r\n\r\n'),
    );
    expect((await doctor()).of('WebSocket')).toMatchObject({ status: 'ok' });
  });

  test('whose Upgrade a proxy takes away gets the same refusal, and fails', async () => {
    answers[stream] = { status: 401, body: { error: 'invalid_token' } };
    const { exitCode, of } = await doctor();
    expect(exitCode).toBe(1);
    expect(of('WebSocket')).toMatchObject({
      status: 'fail',
      says: expect.stringContaining('takes `Upgrade` away') as string,
      fix: expect.stringContaining('proxy_set_header Upgrade') as string,
    });
  });

  test('that is answered by something on the way fails', async () => {
    answers[stream] = { status: 403, body: {} };
    expect((await doctor()).of('WebSocket')).toMatchObject({
      status: 'fail',
      says: 'a WebSocket is answered 403 on its way',
    });
    service.server.on('upgrade', (_request, socket) => socket.destroy());
    expect((await doctor()).of('WebSocket')?.says).toMatch(/gets no answer: socket hang up/);
  });

  test('that something on the way passes on to nobody is no matter of `Upgrade`', async () => {
    answers[stream] = { status: 502, body: { error: 'upstream_unreachable' } };
    const told = (await doctor()).of('WebSocket');
    expect(told).toMatchObject({
      status: 'fail',
      says: 'a WebSocket is answered 502: what should serve it cannot be reached from there',
      fix: expect.stringContaining('sallyport-gateway doctor') as string,
    });
    expect(told?.fix).not.toContain('proxy_set_header');
  });
});

test('a service that is not ready fails with what is wrong', async () => {
  answers['GET /readyz'] = { status: 503, body: { status: 'unavailable', checks: { store: 'failing' } } };
  expect((await doctor()).of('readiness')).toMatchObject({
    status: 'fail',
    says: 'the gateway is unavailable: store failing',
  });
});

test.each([200, 404])(
  'a page of something else (%i) is told as such, with no more advice',
  async (status) => {
    for (const path of ['/readyz', '/.well-known/oauth-authorization-server'])
      answers[`GET ${path}`] = { status, body: '<html>Welcome to nginx' };
    const { exitCode, of, findings } = await doctor();
    expect(exitCode).toBe(1);
    expect(of('readiness')).toMatchObject({ status: 'warn' });
    expect(of('discovery')).toMatchObject({
      status: 'fail',
      fix: expect.stringMatching(/^Check the address/) as string,
    });
    expect(findings.map(({ check }) => check)).not.toContain('WebSocket');
  },
);

test('where /readyz alone is kept back, WebSockets are looked at all the same', async () => {
  answers['GET /readyz'] = { status: 404, body: '<html>Not found' };
  answers['GET /.well-known/oauth-authorization-server'] = { body: { issuer: service.baseUrl } };
  const { of } = await doctor();
  expect([of('discovery')?.status, of('WebSocket')?.status]).toEqual(['ok', 'fail']);
});

test('a clock that is wrong is a warning', async () => {
  date = () => new Date(Date.now() + 600_000).toUTCString();
  const clock = (await doctor()).of('clock');
  expect(clock?.status).toBe('warn');
  expect(clock?.says).toMatch(/this machine is (599|60[01]) s behind the service/);
});

test('another issuer than the address fails', async () => {
  answers['GET /.well-known/oauth-authorization-server'] = {
    status: 200,
    body: { issuer: 'https://elsewhere.example' },
  };
  expect((await doctor()).of('discovery')).toMatchObject({
    status: 'fail',
    says: expect.stringContaining('https://elsewhere.example') as string,
    fix: expect.stringContaining('sallyport keys create') as string,
  });
  const { of, findings } = await doctor({ SALLYPORT_TOKEN: '' });
  expect(of('login')).toMatchObject({ status: 'warn', fix: 'See to what fails above first.' });
  expect(JSON.stringify(findings)).not.toMatch(/sallyport login|expected issuer/);
});

test('a token that has run out is told, and no token is ever shown', async () => {
  const payload = Buffer.from(JSON.stringify({ exp: 1 })).toString('base64url');
  const { findings, of } = await doctor({ SALLYPORT_TOKEN: `e30.${payload}.c2VjcmV0` });
  expect(of('login')).toMatchObject({ status: 'fail' });
  expect(JSON.stringify(findings)).not.toContain(payload);
});

test('a proxy is named without its password', async () => {
  const { of } = await doctor({ HTTP_PROXY: 'http://me:secret@127.0.0.1:9', NO_PROXY: '127.0.0.1' });
  expect(of('name')?.says).toBe('HTTP_PROXY names the proxy 127.0.0.1:9, unless NO_PROXY says otherwise');
});

describe('this machine', () => {
  test('with nobody listening: exit 1, a next step, and no questions after that', async () => {
    const ran = await runHere(['doctor'], { cwd, env: { SALLYPORT_BASE_URL: 'http://127.0.0.1:9' } });
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toBe('');
    expect(ran.stdout).toMatch(/^ok {4}versions: .*\nok {4}configuration: http:\/\/127\.0\.0\.1:9/);
    expect(ran.stdout).toMatch(
      /\nfail {2}address: .* connection refused\.\n {6}Is the gateway running\?.*\nwarn {2}login: .*\n {6}See to what fails above first\.\n$/,
    );
  });

  test('with a configuration that cannot be used', async () => {
    mkdirSync(join(cwd, 'config'));
    writeFileSync(join(cwd, 'config/config.json'), '{');
    const { exitCode, findings } = await doctor();
    expect(exitCode).toBe(1);
    expect(findings.at(-1)).toMatchObject({ check: 'configuration', status: 'fail' });
  });

  test('where nothing can be written, or others can read', async () => {
    mkdirSync(join(cwd, 'config/state/logins'), { recursive: true });
    chmodSync(join(cwd, 'config/state/logins'), 0o755);
    expect((await doctor()).of('state folder')).toMatchObject({
      status: 'warn',
      fix: expect.stringContaining('chmod') as string,
    });
    writeFileSync(join(cwd, 'a-file'), '');
    const { of } = await doctor({ SALLYPORT_CONFIG_DIR: join(cwd, 'a-file') });
    expect(of('config folder')).toMatchObject({
      status: 'fail',
      says: expect.stringContaining('is not writable') as string,
    });
  });
});
