import { undiciTransport } from '@sallyport/core/client';
import { ManualClock } from '@sallyport/core/testing';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { drive } from '../../test/drive.ts';
import { refusal, startScriptedServer, tokens, type ScriptedServer } from '../../test/scripted-server.ts';
import { discover } from './discovery.ts';
import { refreshLogin } from './refresh.ts';

const transport = undiciTransport();
afterAll(() => transport.close());

const clock = new ManualClock();
let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer(() => clock.now());
});
afterEach(() => server.close());

const at = (more: object = {}) => ({ baseUrl: server.baseUrl, transport, clock, ...more });
const document = '/.well-known/oauth-authorization-server';

describe('discovery', () => {
  test('takes the document of RFC 8414, and that of OpenID Connect where there is no other', async () => {
    expect((await discover(at())).metadata).toMatchObject({ issuer: server.baseUrl });
    expect(server.to('/.well-known/openid-configuration')).toHaveLength(0);
    server.on(document, { status: 404 });
    server.on('/.well-known/openid-configuration', {
      body: { ...server.metadata, token_endpoint: `${server.baseUrl}/token` },
    });
    expect((await discover(at())).metadata.token_endpoint).toBe(`${server.baseUrl}/token`);
  });

  test("takes the specification's paths, below the base URL, where discovery is not configured", async () => {
    const { metadata } = await discover(at({ baseUrl: `${server.baseUrl}/gate/` }));
    expect(metadata).toEqual({
      issuer: `${server.baseUrl}/gate/`,
      authorization_endpoint: `${server.baseUrl}/gate/v1/oauth/authorize`,
      token_endpoint: `${server.baseUrl}/gate/v1/oauth/token`,
      device_authorization_endpoint: `${server.baseUrl}/gate/v1/oauth/device_authorization`,
      revocation_endpoint: `${server.baseUrl}/gate/v1/oauth/revoke`,
    });
  });

  test('refuses a document of another issuer, naming it, unless it is the one expected', async () => {
    server.on(document, { body: { ...server.metadata, issuer: 'https://gate.example' } });
    await expect(discover(at())).rejects.toMatchObject({
      code: 'issuer_mismatch',
      message: expect.stringContaining('https://gate.example') as string,
    });
    const { metadata } = await discover(at({ issuer: 'https://gate.example/' }));
    expect(metadata.issuer).toBe('https://gate.example');
  });

  test('does not take an error of the server, or a page, for missing discovery', async () => {
    server.on(document, { status: 503, body: refusal('draining') });
    await expect(discover(at())).rejects.toMatchObject({ name: 'ServiceError', code: 'draining' });
    server.on(document, {
      body: '<html>Sign in to the hotel</html>',
      headers: { 'content-type': 'text/html' },
    });
    await expect(discover(at())).rejects.toMatchObject({ name: 'TransportError', code: 'unexpected_answer' });
  });
});

describe('plain http', () => {
  test('is refused to other hosts before anything is sent, and allowed on request', async () => {
    const nowhere = { send: () => Promise.reject(new Error('sent')), close: () => Promise.resolve() };
    const lan = { baseUrl: 'http://gate.lan', transport: nowhere };
    await expect(discover(lan)).rejects.toMatchObject({ code: 'insecure_address' });
    await expect(discover({ ...lan, allowInsecureHttp: true })).rejects.toThrow('sent');
    await expect(discover({ ...lan, baseUrl: 'http://127.0.0.1.evil.example' })).rejects.toMatchObject({
      code: 'insecure_address',
    });
    for (const baseUrl of ['https://gate.lan', 'http://[::1]:1', 'http://localhost:1', 'http://127.9.9.9']) {
      await expect(discover({ ...lan, baseUrl })).rejects.toThrow('sent');
    }
  });

  test('is refused to another host that a document on this machine names', async () => {
    server.on(document, { body: { ...server.metadata, token_endpoint: 'http://evil.example/token' } });
    await expect(refreshLogin(await discover(at()), login)).rejects.toMatchObject({
      code: 'insecure_address',
    });
  });

  test('an address that is none is said to be none', async () => {
    for (const baseUrl of ['gate.lan', 'file:///etc/passwd', '']) {
      await expect(discover(at({ baseUrl }))).rejects.toMatchObject({ code: 'invalid_address' });
    }
  });
});

const login = {
  baseUrl: '',
  clientId: 'c',
  accessToken: 'a',
  refreshToken: 'r + r',
  expiresAt: 0,
  scope: 'profile',
};

describe('a token call', () => {
  test('is written as JSON by default, as a form on request', async () => {
    server.on('/v1/oauth/token', { body: tokens(1) });
    await refreshLogin(await discover(at({ clientId: 'c' })), login);
    await refreshLogin(await discover(at({ clientId: 'c', encoding: 'form' })), login, { scope: 'openid' });
    const [json, form] = server.to('/v1/oauth/token');
    expect(json?.headers['content-type']).toBe('application/json');
    expect(json?.body).toEqual({ grant_type: 'refresh_token', client_id: 'c', refresh_token: 'r + r' });
    expect(form?.headers['content-type']).toMatch(/^application\/x-www-form-urlencoded/);
    expect(form?.body).toEqual({ ...json?.body, scope: 'openid' });
  });

  test('is retried after 500 ms and then 1000 ms, as its row says', async () => {
    server.on(
      '/v1/oauth/token',
      'reset',
      { status: 500, body: refusal('internal_error') },
      { body: tokens(1) },
    );
    const discovered = await discover(at());
    const start = clock.now();
    const renewed = refreshLogin(discovered, login);
    await clockMoves(500);
    await clockMoves(1000);
    await renewed;
    expect(server.to('/v1/oauth/token').map((call) => call.at - start)).toEqual([0, 500, 1500]);
  });

  test('fails with what the server said when the retries are used up', async () => {
    server.on('/v1/oauth/token', { status: 500, body: refusal('internal_error') });
    await expect(
      drive(
        clock,
        discover(at()).then((found) => refreshLogin(found, login)),
      ),
    ).rejects.toMatchObject({
      name: 'ServiceError',
      status: 500,
      code: 'internal_error',
    });
    expect(server.to('/v1/oauth/token')).toHaveLength(3);
  });

  test('expires by its own clock, counted from before the request, whatever the server takes for now', async () => {
    server.on('/v1/oauth/token', async () => {
      await clock.advance(7_000);
      return { body: tokens(1, 60), headers: { date: 'Thu, 01 Jan 1970 00:00:00 GMT' } };
    });
    const discovered = await discover(at());
    const before = clock.now();
    expect((await refreshLogin(discovered, login)).expiresAt).toBe(before + 60_000);
  });

  test('keeps the refresh token of a server that does not rotate it', async () => {
    server.on('/v1/oauth/token', { body: { access_token: 'a2', token_type: 'bearer', expires_in: 60 } });
    expect(await refreshLogin(await discover(at()), login)).toMatchObject({
      accessToken: 'a2',
      refreshToken: 'r + r',
    });
  });

  test.each([
    ['no JSON', { body: 'ok' }],
    ['no access token', { body: { expires_in: 60 } }],
    ['a token type nobody knows', { body: { ...tokens(1), token_type: 'mac' } }],
  ])('with %s in its answer is the network’s failure', async (_, reply) => {
    server.on('/v1/oauth/token', reply);
    await expect(refreshLogin(await discover(at()), login)).rejects.toMatchObject({
      code: 'unexpected_answer',
    });
  });
});

async function clockMoves(ms: number) {
  while (clock.timers === 0) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(ms);
}
