import { createHmac, createPublicKey } from 'node:crypto';
import { ServiceError } from '@sallyport/core';
import { createAuthorizationServer } from '@sallyport/oauth/server';
import { describe, expect, test, vi } from 'vitest';
import { clientId, issuer, openServer, refusal, type TestServer } from './open-server.ts';

const login = async (opened: TestServer) => opened.exchange(await opened.code());

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decode = (token: string, part: number) =>
  JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString()) as Record<string, unknown>;

describe('an access token', () => {
  test('expires to the second, also for a verifier that has seen it before', async () => {
    const opened = await openServer();
    const { access_token: token } = await login(opened);
    opened.clock.jump(3599_999);
    expect(await refusal(opened.server.accessTokens.verify(token))).toBe(undefined);
    opened.clock.jump(1);
    expect(await refusal(opened.server.accessTokens.verify(token))).toBe('invalid_token');
  });

  test.each(['at+jwt', 'AT+JWT', 'application/at+jwt'])('may call its type %s (RFC 9068 4)', async (type) => {
    const opened = await openServer();
    const { access_token: token } = await login(opened);
    const { signer } = opened.server;
    const again = await signer.sign(decode(token, 1), { type, audience: issuer, lifetimeSeconds: 60 });
    expect(await refusal(opened.server.accessTokens.verify(again))).toBe(undefined);
  });

  test('is taken by a verifier whose clock is 60 seconds behind, not 61', async () => {
    const opened = await openServer();
    const { access_token: token } = await login(opened);
    opened.clock.jump(-60_000);
    expect(await refusal(opened.server.accessTokens.verify(token))).toBe(undefined);
    const stranger = await openServer();
    const { access_token: fresh } = await login(stranger);
    stranger.clock.jump(-61_000);
    expect(await refusal(stranger.server.accessTokens.verify(fresh))).toBe('invalid_token');
  });

  test.each<[string, (token: string) => string]>([
    ['no signature', (token) => `${token.split('.').slice(0, 2).join('.')}.`],
    ['alg none', (token) => `${encode({ ...decode(token, 0), alg: 'none' })}.${token.split('.')[1] ?? ''}.`],
    [
      'other claims under the same signature',
      (token) => {
        const [head = '', , signature = ''] = token.split('.');
        return `${head}.${encode({ ...decode(token, 1), sub: 'someone' })}.${signature}`;
      },
    ],
    [
      'an unknown key',
      (token) => `${encode({ ...decode(token, 0), kid: 'x' })}.${token.split('.').slice(1).join('.')}`,
    ],
    ['padding', (token) => `${token}==`],
    [
      'bits that say nothing',
      (token) => {
        // The last of the 86 characters of a 64-byte signature has four bits more than there is to say.
        const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
        return token.slice(0, -1) + (alphabet[alphabet.indexOf(token.slice(-1)) + 1] ?? '');
      },
    ],
    ['no JWT at all', () => 'nonsense'],
    ['nothing', () => ''],
  ])('with %s is refused', async (_case, forge) => {
    const opened = await openServer();
    const { access_token: token } = await login(opened);
    expect(await refusal(opened.server.accessTokens.verify(forge(token)))).toBe('invalid_token');
  });

  test('with HS256, keyed with the public key as anybody can have it, is refused', async () => {
    const opened = await openServer();
    const { access_token: token } = await login(opened);
    const [jwk] = (await opened.server.signer.jwks()).keys;
    if (!jwk) expect.unreachable();
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
    const signed = `${encode({ ...decode(token, 0), alg: 'HS256' })}.${token.split('.')[1] ?? ''}`;
    for (const secret of [
      key.export({ type: 'spki', format: 'pem' }),
      key.export({ type: 'spki', format: 'der' }),
      JSON.stringify(jwk),
      Buffer.from(`${jwk.x ?? ''}${jwk.y ?? ''}`, 'base64url'),
    ]) {
      const forged = `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
      expect(await refusal(opened.server.accessTokens.verify(forged))).toBe('invalid_token');
    }
  });

  test('of another kind, audience or issuer, though signed here, is refused; and none passes as another kind', async () => {
    const { server, exchange, code, store, clock } = await openServer();
    const { access_token: token } = await exchange(await code());
    const claims = decode(token, 1);
    const { signer } = server;
    const lifetimeSeconds = 60;
    const worker = await signer.sign(claims, { type: 'worker+jwt', audience: 'ingress', lifetimeSeconds });
    const id = await signer.sign(claims, { type: 'JWT', audience: issuer, lifetimeSeconds });
    const foreign = await signer.sign(claims, { type: 'at+jwt', audience: 'other', lifetimeSeconds });
    const elsewhere = await createAuthorizationServer({ store, clock, issuer: 'https://other.example' });
    const other = await elsewhere.signer.sign(claims, { type: 'at+jwt', audience: issuer, lifetimeSeconds });
    for (const forged of [worker, id, foreign, other])
      expect(await refusal(server.accessTokens.verify(forged))).toBe('invalid_token');
    expect(await refusal(signer.verify(token, { type: 'worker+jwt', audience: 'ingress' }))).toBe(
      'invalid_token',
    );
    expect(await signer.verify(worker, { type: 'worker+jwt', audience: 'ingress' })).toMatchObject({
      iss: issuer,
    });
  });

  test('is the role of today, not that of the login', async () => {
    const opened = await openServer();
    const { access_token: token } = await login(opened);
    opened.store.db.exec("UPDATE membership SET role = 'viewer'");
    expect(await opened.server.accessTokens.verify(token)).toMatchObject({
      role: 'viewer',
      permissions: ['read'],
    });
  });
});

describe('revocation', () => {
  test('of an access token ends that one; of a refresh token the login', async () => {
    const opened = await openServer();
    const { server } = opened;
    const first = await login(opened);
    const second = await opened.refresh(first.refresh_token ?? '');
    await server.revoke({ client_id: clientId, token: first.access_token, token_type_hint: 'refresh_token' });
    expect(await refusal(server.accessTokens.verify(first.access_token))).toBe('invalid_token');
    expect(await refusal(server.accessTokens.verify(second.access_token))).toBe(undefined);
    await server.revoke({ client_id: clientId, token: second.refresh_token });
    expect(await refusal(server.accessTokens.verify(second.access_token))).toBe('invalid_token');
    expect(await refusal(opened.refresh(second.refresh_token ?? ''))).toBe('invalid_grant');
  });

  test('another client revokes nothing, and is not told so; an unknown client is', async () => {
    const opened = await openServer();
    const { server } = opened;
    const other = await server.clients.add({ name: 'Other', redirectUris: [] });
    const tokens = await login(opened);
    for (const token of [tokens.access_token, tokens.refresh_token, 'nonsense'])
      expect(await refusal(server.revoke({ client_id: other.id, token }))).toBe(undefined);
    expect(await refusal(opened.refresh(tokens.refresh_token ?? ''))).toBe(undefined);
    expect(await refusal(server.accessTokens.verify(tokens.access_token))).toBe(undefined);
    expect(await refusal(server.revoke({ client_id: 'nobody', token: 'x' }))).toBe('invalid_client');
    expect(await refusal(server.revoke({ client_id: clientId }))).toBe('invalid_request');
  });
});

describe('a rotation of the keys', () => {
  test('publishes the next key ahead, signs with it later, and drops the old one when its tokens are dead', async () => {
    const opened = await openServer();
    const { server, clock } = opened;
    const kids = async () => (await server.signer.jwks()).keys.map(({ kid }) => kid);
    const kidOf = (token: string) => decode(token, 0)['kid'];
    const before = await login(opened);
    const old = kidOf(before.access_token);
    const { kid: next } = await server.signer.rotate();
    expect((await kids()).sort()).toEqual([old, next].sort());
    expect(kidOf((await login(opened)).access_token)).toBe(old);
    expect(await refusal(server.signer.rotate())).toBe('conflict');
    await clock.advance(15 * 60_000 - 1);
    const last = await login(opened);
    expect(kidOf(last.access_token)).toBe(old);
    await clock.advance(1);
    expect(kidOf((await login(opened)).access_token)).toBe(next);
    await clock.advance(3598_000);
    expect(await refusal(server.accessTokens.verify(last.access_token))).toBe(undefined);
    await clock.advance(6 * 60_000);
    expect(await kids()).toEqual([next]);
  });

  test('in another process is seen within half a minute, and unknown keys do not make it look more often', async () => {
    const opened = await openServer();
    const { server, clock, store } = opened;
    const admin = await createAuthorizationServer({ store, clock, issuer });
    await admin.signer.rotate();
    const signingKeys = store.reads.signingKeys.bind(store.reads);
    let reads = 0;
    store.reads.signingKeys = async (argument) => {
      reads += 1;
      return signingKeys(argument);
    };
    const { access_token: token } = await login(opened);
    reads = 0;
    const forged = `${encode({ ...decode(token, 0), kid: 'x' })}.${token.split('.').slice(1).join('.')}`;
    await clock.advance(30_000);
    for (let count = 0; count < 20; count += 1)
      await refusal(server.accessTokens.verify(forged + String(count)));
    expect(reads).toBe(1);
    expect((await server.signer.jwks()).keys).toHaveLength(2);
  });
});

describe('the signer', () => {
  test('does not call a token invalid while the store does not answer', async () => {
    const opened = await openServer();
    const { access_token: token } = await login(opened);
    const failure = new ServiceError('store_unavailable', 'The store cannot be read.');
    vi.spyOn(opened.store.reads, 'signingKeys').mockRejectedValueOnce(failure);
    await opened.clock.advance(30_000);
    expect(await refusal(opened.server.accessTokens.verify(token))).toBe('store_unavailable');
    expect(await refusal(opened.server.accessTokens.verify(token))).toBe(undefined);
  });

  test('publishes a retired key until the last token of every kind has expired, and signs none that lives longer', async () => {
    const { server, clock } = await openServer({ accessTokenSeconds: 60 }, { otherTokenSeconds: 3600 });
    const { signer } = server;
    const kind = { type: 'worker+jwt', audience: 'ingress' };
    await signer.rotate();
    await clock.advance(15 * 60_000 - 1);
    const last = await signer.sign({}, { ...kind, lifetimeSeconds: 3600 });
    await clock.advance(3599_000);
    await expect(signer.verify(last, kind)).resolves.toMatchObject({ iss: issuer });
    await expect(signer.sign({}, { ...kind, lifetimeSeconds: 3601 })).rejects.toThrow('outlive its key');
  });
});

describe('a dialect', () => {
  test('renames scopes, organization type and capabilities on the wire, and nothing inside', async () => {
    const opened = await openServer({}, { dialect: { vendor: 'acme', agent: 'helper' } });
    const { server, owner, organizationId } = opened;
    expect(server.metadata.scopes_supported).toEqual(['openid', 'profile', 'email', 'acme_api']);
    expect(await refusal(opened.code({ scope: 'vendor_api' }))).toBe('invalid_scope');
    const tokens = await opened.exchange(await opened.code({ scope: 'profile acme_api' }));
    expect(tokens.scope).toBe('profile acme_api');
    expect(decode(tokens.access_token, 1)['scope']).toBe('profile acme_api');
    expect((await server.accessTokens.verify(tokens.access_token)).scopes).toEqual(['profile', 'vendor_api']);
    const profile = await server.profiles.profile({ ...owner, organizationId });
    expect(profile.organization.organization_type).toBe('helper_team');
    const { account } = await server.profiles.bootstrap(owner.accountId);
    expect(account.memberships[0]?.organization.capabilities).toEqual(['helper_code']);
  });
});
