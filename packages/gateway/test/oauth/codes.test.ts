import { defaultOAuthConfig } from '@sallyport/oauth/server';
import { describe, expect, test } from 'vitest';
import { challenge, clientId, codeRequest, issuer, openServer, refusal, verifier } from './open-server.ts';

describe('authorization by session key', () => {
  test('the redirect carries code, state byte for byte, and iss', async () => {
    const { server, owner, organizationId } = await openServer();
    const request = codeRequest(organizationId, { state: 'a b+c&d=%20"é\r\n' });
    const { redirect_uri: location } = await server.authorization.authorize(owner, organizationId, request);
    expect(location).toMatch(/^http:\/\/127\.0\.0\.1:53219\/callback\?code=spc_[\w-]{43}&state=/);
    expect(location).not.toMatch(/[\r\n]/);
    const { searchParams } = new URL(location);
    expect([searchParams.get('state'), searchParams.get('iss')]).toEqual([request.state, issuer]);
  });

  test('without the iss parameter neither redirect nor metadata has it', async () => {
    const { server, owner, organizationId } = await openServer({ issParameter: false });
    const { redirect_uri: location } = await server.authorization.authorize(
      owner,
      organizationId,
      codeRequest(organizationId),
    );
    expect(new URL(location).searchParams.has('iss')).toBe(false);
    expect(server.metadata).not.toHaveProperty('authorization_response_iss_parameter_supported');
  });

  test.each([
    ['a response type other than code', { response_type: 'token' }, 'unsupported_response_type'],
    ['no client', { client_id: '' }, 'invalid_request'],
    ['an unknown client', { client_id: 'nobody' }, 'invalid_request'],
    ['no challenge', { code_challenge: '' }, 'invalid_request'],
    ['a challenge of 42 characters', { code_challenge: challenge.slice(1) }, 'invalid_request'],
    ['the method plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no method', { code_challenge_method: '' }, 'invalid_request'],
    ['no state', { state: '' }, 'invalid_request'],
    ['a state that is no Unicode', { state: '\ud800' }, 'invalid_request'],
    ['another organization than the path', { organization_uuid: 'other' }, 'invalid_request'],
    ['a scope that the client may not have', { scope: 'openid root' }, 'invalid_scope'],
    ['a scope that is no text', { scope: ['openid'] }, 'invalid_request'],
    ['a redirect URI that is not registered', { redirect_uri: 'https://evil.example/cb' }, 'invalid_request'],
  ])('refuses %s', async (_case, changes, expected) => {
    const { code } = await openServer();
    expect(await refusal(code(changes))).toBe(expected);
  });

  test('an organization of others is forbidden, one that is none a bad request', async () => {
    const { server, owner } = await openServer();
    const other = await server.organizations.add({ name: 'Other' });
    const authorize = (id: string) => server.authorization.authorize(owner, id, codeRequest(id));
    expect(await refusal(authorize(other.id))).toBe('forbidden');
    expect(await refusal(authorize('not-a-uuid'))).toBe('invalid_request');
  });
});

describe('the exchange of a code', () => {
  test('gives tokens of RFC 9068 and all scopes of the client', async () => {
    const { server, code, exchange, owner, organizationId } = await openServer();
    const tokens = await exchange(await code());
    expect(tokens).toMatchObject({
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'openid profile email vendor_api',
    });
    const [head, body] = tokens.access_token.split('.').map((part) => {
      try {
        return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
      } catch {
        return {};
      }
    });
    const { keys } = await server.signer.jwks();
    expect(head).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: keys[0]?.kid });
    expect(body).toMatchObject({
      iss: issuer,
      aud: issuer,
      sub: owner.accountId,
      client_id: clientId,
      org: organizationId,
      scope: 'openid profile email vendor_api',
      iat: Date.UTC(2026, 0, 1) / 1000,
      exp: Date.UTC(2026, 0, 1) / 1000 + 3600,
    });
    // A verifier whose clock is a little behind would refuse it (openid-client#454).
    expect(body).not.toHaveProperty('nbf');
    expect(await server.accessTokens.verify(tokens.access_token)).toMatchObject({
      accountId: owner.accountId,
      organizationId,
      role: 'admin',
      permissions: ['read', 'write', 'manage_projects'],
      scopes: ['openid', 'profile', 'email', 'vendor_api'],
    });
  });

  test.each([
    ['no grant type', { grant_type: '' }, 'invalid_request'],
    ['an unknown grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
    [
      'an unknown grant type before a missing client',
      { grant_type: 'x', client_id: '' },
      'unsupported_grant_type',
    ],
    ['no client', { client_id: '' }, 'invalid_request'],
    ['an unknown client', { client_id: 'nobody' }, 'invalid_client'],
    ['no code', { code: '' }, 'invalid_request'],
    ['no redirect URI', { redirect_uri: '' }, 'invalid_request'],
    ['no verifier', { code_verifier: '' }, 'invalid_request'],
    ['a verifier of 42 characters', { code_verifier: 'a'.repeat(42) }, 'invalid_request'],
    ['a verifier of 129 characters', { code_verifier: 'a'.repeat(129) }, 'invalid_request'],
    ['a repeated parameter', { code: ['a', 'b'] }, 'invalid_request'],
    ['a parameter that is no text', { extra: 5 }, 'invalid_request'],
    ['an unknown code', { code: 'spc_nothing' }, 'invalid_grant'],
    ['another port than before', { redirect_uri: 'http://127.0.0.1:53220/callback' }, 'invalid_grant'],
    ['another verifier', { code_verifier: 'a'.repeat(43) }, 'invalid_grant'],
  ])('refuses %s, and does not spend the code', async (_case, changes, expected) => {
    const { code, exchange } = await openServer();
    const issued = await code();
    expect(await refusal(exchange(issued, changes))).toBe(expected);
    expect(await refusal(exchange(issued))).toBe(undefined);
  });

  test("another client's code is not known to it, and stays good", async () => {
    const { server, code, exchange } = await openServer();
    const other = await server.clients.add({ name: 'Other', redirectUris: ['https://app.example/cb'] });
    const issued = await code();
    expect(await refusal(exchange(issued, { client_id: other.id }))).toBe('invalid_grant');
    expect(await refusal(exchange(issued))).toBe(undefined);
  });

  test('expires after 60 seconds', async () => {
    const { clock, code, exchange } = await openServer();
    const [early, late] = [await code(), await code()];
    clock.jump(59_999);
    expect(await refusal(exchange(early))).toBe(undefined);
    clock.jump(1);
    expect(await refusal(exchange(late))).toBe('invalid_grant');
  });

  test('of many at once one succeeds; a replay revokes what it gave, at once, and says so in the log', async () => {
    const { server, code, exchange, refresh, warnings } = await openServer();
    const issued = await code();
    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => exchange(issued)));
    const [won, ...more] = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    expect(more).toEqual([]);
    if (!won) throw new Error('none was issued');
    expect(await refusal(server.accessTokens.verify(won.access_token))).toBe('invalid_token');
    expect(await refusal(refresh(won.refresh_token ?? ''))).toBe('invalid_grant');
    expect(warnings).toContain('an authorization code was replayed: its login is revoked');
  });

  test('a replay after the expiry revokes too', async () => {
    const { server, clock, code, exchange } = await openServer();
    const issued = await code();
    const { access_token: token } = await exchange(issued);
    clock.jump(30 * 60_000);
    await server.sweep();
    expect(await refusal(exchange(issued))).toBe('invalid_grant');
    expect(await refusal(server.accessTokens.verify(token))).toBe('invalid_token');
  });

  test('survives five wrong verifiers, not six', async () => {
    const { code, exchange } = await openServer();
    const wrong = { code_verifier: 'b'.repeat(43) };
    const [five, six] = [await code(), await code()];
    for (let count = 0; count < 5; count += 1) await refusal(exchange(five, wrong));
    for (let count = 0; count < 6; count += 1) await refusal(exchange(six, wrong));
    expect(await refusal(exchange(five))).toBe(undefined);
    expect(await refusal(exchange(six))).toBe('invalid_grant');
  });

  test('codeReplaySeconds gives the same grant again to the same verifier only', async () => {
    const { server, clock, code, exchange } = await openServer({ codeReplaySeconds: 5 });
    const issued = await code();
    const first = await exchange(issued);
    clock.jump(5000);
    const again = await exchange(issued);
    expect(again.refresh_token).toBe(first.refresh_token);
    expect(await refusal(server.accessTokens.verify(first.access_token))).toBe(undefined);
    expect(await refusal(exchange(issued, { code_verifier: 'c'.repeat(43) }))).toBe('invalid_grant');
    expect(await refusal(server.accessTokens.verify(first.access_token))).toBe('invalid_token');
  });

  test('dies with the session that it was given by', async () => {
    const { server, owner, code, exchange } = await openServer();
    const issued = await code();
    await server.sessions.end(owner);
    expect(await refusal(exchange(issued))).toBe('invalid_grant');
  });

  test('dies with the membership of who gave it, though they come back', async () => {
    const { server, owner, organizationId, code, exchange } = await openServer();
    await server.accounts.add({ email: 'ann@example.com', role: 'admin' });
    const issued = await code();
    await server.members.leave(owner.accountId, organizationId);
    await server.members.setRole(owner.accountId, organizationId, 'member');
    expect(await refusal(exchange(issued))).toBe('invalid_grant');
  });

  test('the verifier of RFC 7636 appendix B fits its challenge', async () => {
    const { code, exchange } = await openServer();
    const issued = await code({ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' });
    expect(verifier).toBe('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk');
    expect(await refusal(exchange(issued))).toBe(undefined);
  });

  test('refusals at any address of one IPv6 network count together', async () => {
    const failures = { ...defaultOAuthConfig.failures, tokens: 2 };
    const { server } = await openServer({ failures });
    const wrong = { grant_type: 'refresh_token', client_id: clientId, refresh_token: 'spr_wrong' };
    const at = (address: string) => refusal(server.token(wrong, address));
    expect([await at('2001:db8::1'), await at('2001:db8::2'), await at('2001:db8::3')]).toEqual([
      'invalid_grant',
      'invalid_grant',
      'temporarily_unavailable',
    ]);
  });

  test('after too many refusals of a client at an address further ones are 429 there; what is good passes', async () => {
    const { server, exchange, code } = await openServer({
      failures: {
        windowSeconds: 60,
        passwords: 1,
        passwordsPerAddress: 1,
        userCodes: 1,
        userCodesPerAddress: 1,
        tokens: 3,
      },
    });
    const issued = await code();
    for (let count = 0; count < 3; count += 1)
      expect(await refusal(exchange('spc_wrong'))).toBe('invalid_grant');
    await expect(exchange('spc_wrong')).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      status: 429,
      retryAfterMs: 60_000,
    });
    // Only what fails is refused: behind one address there may be many honest processes.
    expect(await refusal(exchange(issued))).toBe(undefined);
    const elsewhere = server.token(
      { grant_type: 'refresh_token', client_id: clientId, refresh_token: 'spr_wrong' },
      '10.0.0.9',
    );
    expect(await refusal(elsewhere)).toBe('invalid_grant');
  });
});
