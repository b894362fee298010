// What users of comparable systems ran into, by the public thread that tells of it; each reproduced over HTTP.
import { createHash } from 'node:crypto';
import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';
import { createRemoteJWKSet, customFetch, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { callback, clientId, codeRequest, deviceGrantType, issuer } from './open-server.ts';
import { openOverHttp } from './over-http.ts';

type Opened = Awaited<ReturnType<typeof openOverHttp>>;

function authorize({ call, organizationId, sessionKey }: Opened, changes: object = {}) {
  const headers = { authorization: `Bearer ${sessionKey}` };
  return call('POST', `/v1/oauth/${organizationId}/authorize`, headers, codeRequest(organizationId, changes));
}

function browse({ url, organizationId }: Opened, changes: Record<string, string>) {
  const query = new URLSearchParams(codeRequest(organizationId, changes));
  return fetch(`${url}/v1/oauth/authorize?${query.toString()}`, { redirect: 'manual' });
}

function token({ call }: Opened, body: object) {
  return call('POST', '/v1/oauth/token', {}, { client_id: clientId, ...body });
}

function codeOf(answer: { json(): unknown }): string {
  const { redirect_uri: location } = answer.json() as { redirect_uri: string };
  return new URL(location).searchParams.get('code') ?? '';
}

describe('PKCE', () => {
  // coder#28003, Bike4Mind#2661
  test.each(['a', 'a'.repeat(42), 'a'.repeat(129), `${'a'.repeat(42)}+`, ''])(
    'a verifier of another form is never good, though its challenge fits: %s',
    async (short) => {
      await using opened = await openOverHttp();
      const fitting = createHash('sha256').update(short).digest('base64url');
      const code = codeOf(await authorize(opened, { code_challenge: fitting }));
      const grant = { grant_type: 'authorization_code', code, redirect_uri: callback };
      for (const body of [grant, { ...grant, code_verifier: short }]) {
        const answer = await token(opened, body);
        expect([answer.status, answer.json()]).toMatchObject([400, { error: 'invalid_request' }]);
      }
    },
  );

  // keycloak#26430, zitadel/oidc#741, kanidm#1097
  test.each([{ code_challenge: undefined }, { code_challenge_method: 'plain' }])(
    'no code is issued that a verifier would not be asked for: %j',
    async (changes) => {
      await using opened = await openOverHttp();
      const answer = await authorize(opened, changes);
      expect([answer.status, answer.json()]).toMatchObject([400, { error: 'invalid_request' }]);
    },
  );
});

describe('a redirect URI', () => {
  // CVE-2026-3872 (keycloak#47718), hsweb#354, hsweb#363, fastmcp-ts#346, zitadel#12559
  test.each([
    'http://127.0.0.1:80@evil.com/callback',
    'http://127.0.0.1/callback/..;/x',
    'http://127.0.0.1/%2e%2e/callback',
    'http://127.0.0.1/callback#f',
    'http://127.0.0.1.evil.com/callback',
    'http://127.0.0.1/Callback',
    'http://127.0.0.1/callback/',
    'http://127.0.0.1\\@evil.com/callback',
    'HTTP://127.0.0.1/callback',
    'http://127.1/callback',
    'http://[::ffff:127.0.0.1]/callback',
    'https://127.0.0.1/callback',
  ])('%s is refused, and nobody is sent there', async (uri) => {
    await using opened = await openOverHttp();
    const answer = await authorize(opened, { redirect_uri: uri });
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    const page = await browse(opened, { redirect_uri: uri });
    expect([page.status, page.headers.get('location')]).toEqual([400, null]);
  });

  // cloudflare/workers-oauth-provider#35, coder#29013, better-auth#10937
  test('a loopback one is good at any port, and for its own host and scheme alone', async () => {
    await using opened = await openOverHttp();
    const { id } = await opened.server.clients.add({
      name: 'Local',
      redirectUris: ['http://localhost/callback'],
    });
    const status = async (uri: string) =>
      (await authorize(opened, { client_id: id, redirect_uri: uri })).status;
    expect(await status('http://localhost:53219/callback')).toBe(200);
    expect(await status('http://127.0.0.1:53219/callback')).toBe(400);
    expect(await status('https://localhost:53219/callback')).toBe(400);
  });
});

describe('the device flow', () => {
  // keycloak#51275
  test('a guesser of user codes is stopped; a person elsewhere is not', async () => {
    await using opened = await openOverHttp();
    const { server, owner, call } = opened;
    const started = await call('POST', '/v1/oauth/device_authorization', {}, { client_id: clientId });
    const { user_code: right } = started.json() as { user_code: string };
    const guesses = await Promise.allSettled(
      Array.from({ length: 200 }, (_, index) =>
        server.deviceFlow.find('BBBB-BBBB', { ...owner, sessionId: `s${index}` }, '192.0.2.1'),
      ),
    );
    const codes = guesses.map((guess) =>
      guess.status === 'rejected' ? (guess.reason as { code: string }).code : '',
    );
    expect(codes.filter((code) => code === 'not_found')).toHaveLength(20);
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(180);
    await expect(server.deviceFlow.find(right, owner, '192.0.2.1')).rejects.toMatchObject({
      code: 'rate_limited',
      retryAfterMs: 600_000,
    });
    expect(await server.deviceFlow.find(right, owner, '192.0.2.2')).toMatchObject({ userCode: right });
  });

  // oidc-provider keeps its grants in an LRU
  test('five thousand more do not push out the one that waits', async () => {
    await using opened = await openOverHttp();
    const { server, store, poll } = opened;
    const first = await server.deviceFlow.start({ client_id: clientId }, '192.0.2.1');
    let refused = 0;
    for (let count = 0; count < 5000; count += 1)
      await server.deviceFlow.start({ client_id: clientId }, '192.0.2.1').catch((error: unknown) => {
        expect(error).toMatchObject({ status: 429 });
        refused += 1;
      });
    expect(refused).toBe(4901);
    expect(store.db.prepare('SELECT count(*) AS n FROM oauth_device_grant').get()?.['n']).toBe(100);
    await expect(poll(first.device_code)).rejects.toMatchObject({ code: 'authorization_pending' });
  });

  // dex#4928
  test("a poll with another client's name changes nothing, and tokens are served once", async () => {
    await using opened = await openOverHttp();
    const { server, owner, organizationId } = opened;
    const other = await server.clients.add({ name: 'Other', redirectUris: [] });
    const started = await server.deviceFlow.start({ client_id: clientId }, '');
    const poll = (client: string) =>
      token(opened, { grant_type: deviceGrantType, device_code: started.device_code, client_id: client });
    expect((await poll(other.id)).json()).toMatchObject({ error: 'invalid_grant' });
    expect((await poll(clientId)).json()).toMatchObject({ error: 'authorization_pending' });
    await server.deviceFlow.decide(started.user_code, owner, '', { approve: true, organizationId });
    expect((await poll(other.id)).json()).toMatchObject({ error: 'invalid_grant' });
    expect((await poll(clientId)).status).toBe(200);
    const again = await poll(clientId);
    expect([again.status, again.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
  });
});

describe('the signing keys', () => {
  // ark#2457, giantswarm/mcp-oauth#452, couper#801
  test('a rotation refuses no good token at a hundred verifiers, which fetch the keys a bounded number of times', async () => {
    await using opened = await openOverHttp();
    const { url, server, clock } = opened;
    let fetches = 0;
    const verifiers = Array.from({ length: 100 }, () =>
      createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`), {
        [customFetch]: (...input: Parameters<typeof fetch>) => {
          fetches += 1;
          return fetch(...input);
        },
      }),
    );
    const verifyAll = (jwt: string) =>
      Promise.all(
        verifiers.map((keys) =>
          jwtVerify(jwt, keys, {
            issuer,
            audience: issuer,
            typ: 'at+jwt',
            currentDate: new Date(clock.now()),
          }),
        ),
      );
    const before = await opened.login();
    await server.signer.rotate();
    await verifyAll(before.access_token);
    expect(fetches).toBe(100);
    await clock.advance(15 * 60_000);
    const after = await opened.login();
    await verifyAll(after.access_token);
    await verifyAll(before.access_token);
    expect(fetches).toBe(100);
    // A flood of unknown keys: each verifier cools down.
    const [, payload, signature] = after.access_token.split('.');
    const header = Buffer.from('{"alg":"ES256","typ":"at+jwt","kid":"x"}').toString('base64url');
    const forged = [header, payload, signature].join('.');
    for (const _again of [1, 2, 3])
      await Promise.all(verifiers.map((keys) => expect(jwtVerify(forged, keys)).rejects.toThrow()));
    expect(fetches).toBe(100);
    await clock.advance(3600_000 + 6 * 60_000);
    const { keys } = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: object[] };
    expect(keys).toHaveLength(1);
  });
});

describe('a bearer', () => {
  // qauth#283, zeroid#189
  test('of another kind opens nothing: session key, refresh token, worker and id tokens, and the reverse', async () => {
    await using opened = await openOverHttp();
    const { server, call, sessionKey } = opened;
    const tokens = await opened.login();
    const [, payload = ''] = tokens.access_token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
    const sign = (type: string, audience: string) =>
      server.signer.sign({ ...claims }, { type, audience, lifetimeSeconds: 60 });
    for (const bearer of [
      sessionKey,
      tokens.refresh_token ?? '',
      await sign('worker+jwt', 'ingress'),
      await sign('JWT', issuer),
      await sign('at+jwt', 'ingress'),
      `${tokens.access_token}==`,
    ]) {
      const answer = await call('GET', '/api/oauth/profile', { authorization: `Bearer ${bearer}` });
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringMatching(/, error="invalid_token"$/),
      ]);
    }
    for (const path of ['/v1/code/sessions/s/worker/register', '/v1/oauth/x/authorize']) {
      const answer = await call('POST', path, { authorization: `Bearer ${tokens.access_token}` });
      expect(answer.status).toBe(401);
    }
    for (const path of ['?access_token=', '?token='])
      expect((await call('GET', `/api/oauth/profile${path}${tokens.access_token}`)).status).toBe(401);
  });
});

describe('what a stranger sends', () => {
  // framework/the-framework#969
  test('adds no header: quotes and line breaks in scope, state and Host', async () => {
    await using opened = await openOverHttp();
    const { url } = opened;
    const evil = 'x"\r\nset-cookie: a=b\r\n\r\n<script>';
    const sent = await authorize(opened, { state: evil });
    const { redirect_uri: location } = sent.json() as { redirect_uri: string };
    expect(location).toMatch(/^[!-~]+$/);
    expect(new URL(location).searchParams.get('state')).toBe(evil);

    const page = await browse(opened, { state: evil, response_type: 'token' });
    expect(page.headers.get('location')).toMatch(/^[!-~]+$/);
    for (const answer of [
      page,
      await browse(opened, { scope: evil }),
      await authorize(opened, { scope: evil }),
      await token(opened, {
        grant_type: 'refresh_token',
        refresh_token: (await opened.login()).refresh_token,
        scope: evil,
      }),
    ]) {
      expect(answer.headers.getSetCookie().filter((cookie) => cookie.startsWith('a='))).toEqual([]);
      expect([303, 400]).toContain(answer.status);
    }

    const { hostname, port } = new URL(url);
    const socket = createConnection(Number(port), hostname);
    socket.end(
      'GET /api/oauth/profile HTTP/1.1\r\nHost: a"b, error="none\r\nAuthorization: Bearer x\r\nConnection: close\r\n\r\n',
    );
    const raw = await text(socket);
    expect(raw).not.toContain('a"b');
    expect(raw).not.toContain('error="none');
  });
});
