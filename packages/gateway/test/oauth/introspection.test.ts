import { describe, expect, test } from 'vitest';
import { clientId, issuer } from './open-server.ts';
import { openOverHttp } from './over-http.ts';

async function open() {
  const opened = await openOverHttp({ introspection: true });
  const tokens = await opened.login();
  const bearer = { authorization: `Bearer ${tokens.access_token}` };
  const introspect = async (token: string) =>
    (await opened.call('POST', '/v1/oauth/introspect', bearer, { token })).json();
  return { ...opened, tokens, bearer, introspect };
}

describe('introspection', () => {
  test('is off unless switched on', async () => {
    await using opened = await openOverHttp();
    const { access_token: token } = await opened.login();
    const answer = await opened.call(
      'POST',
      '/v1/oauth/introspect',
      { authorization: `Bearer ${token}` },
      { token },
    );
    expect([answer.status, answer.json()]).toMatchObject([404, { error: 'not_found' }]);
    expect(opened.server.metadata).not.toHaveProperty('introspection_endpoint');
  });

  test('tells of access token, refresh token and API key what they are', async () => {
    await using opened = await open();
    const { server, owner, organizationId, tokens, introspect, clock } = opened;
    expect(server.metadata['introspection_endpoint']).toBe(`${issuer}/v1/oauth/introspect`);
    const common = {
      active: true,
      iss: issuer,
      aud: issuer,
      sub: owner.accountId,
      org: organizationId,
      scope: 'openid profile email vendor_api',
      client_id: clientId,
    };
    const now = Math.floor(clock.now() / 1000);
    expect(await introspect(tokens.access_token)).toEqual({
      ...common,
      token_type: 'Bearer',
      exp: now + 3600,
      jti: expect.any(String) as string,
    });
    expect(await introspect(tokens.refresh_token ?? '')).toEqual({ ...common, exp: now + 30 * 24 * 3600 });
    const key = await server.apiKeys.create(
      { accountId: owner.accountId, organizationId, scopes: ['vendor_api'], isApiKey: false },
      {},
    );
    const active = { active: true, iss: issuer, aud: issuer, sub: owner.accountId, org: organizationId };
    const ofKey = { ...active, scope: 'vendor_api', token_type: 'Bearer' };
    expect(await introspect(key)).toEqual(ofKey);
    const brief = await server.apiKeys.create(
      { accountId: owner.accountId, organizationId, scopes: ['vendor_api'], isApiKey: false },
      { expiresInSeconds: 60 },
    );
    expect(await introspect(brief)).toEqual({ ...ofKey, exp: now + 60 });
  });

  test('of any other token it tells that it is not active, and no more', async () => {
    await using opened = await open();
    const { server, owner, tokens, introspect, refresh, call, bearer } = opened;
    const successor = await refresh(tokens.refresh_token ?? '');
    const second = await opened.login();
    const third = await opened.login();
    await server.revoke({ client_id: clientId, token: second.refresh_token });
    await server.revoke({ client_id: clientId, token: third.access_token });
    const other = await server.organizations.add({ name: 'Other' });
    await server.members.setRole(owner.accountId, other.id, 'admin');
    const { device_code: deviceCode, user_code: userCode } = await server.deviceFlow.start(
      { client_id: clientId },
      '',
    );
    await server.deviceFlow.decide(userCode, owner, '', { approve: true, organizationId: other.id });
    const foreign = await opened.poll(deviceCode);
    for (const token of [
      tokens.refresh_token, // succeeded
      second.access_token,
      second.refresh_token,
      third.access_token,
      foreign.access_token,
      foreign.refresh_token,
      'nonsense',
      'sk-nonsense',
    ])
      expect(await introspect(token ?? '')).toEqual({ active: false });
    expect(await introspect(successor.refresh_token ?? '')).toMatchObject({ active: true });
    opened.clock.jump(3600_000);
    const late = await opened.login();
    const answer = await call(
      'POST',
      '/v1/oauth/introspect',
      { authorization: `Bearer ${late.access_token}` },
      { token: tokens.access_token },
    );
    expect(answer.json()).toEqual({ active: false });
    expect((await call('POST', '/v1/oauth/introspect', bearer, { token: 'x' })).status).toBe(401);
  });

  test('takes a form; needs a credential and a token', async () => {
    await using opened = await open();
    const { url, tokens, bearer, call } = opened;
    const form = await fetch(`${url}/v1/oauth/introspect`, {
      method: 'POST',
      headers: bearer,
      body: new URLSearchParams({ token: tokens.access_token, token_type_hint: 'refresh_token' }),
    });
    expect([form.headers.get('cache-control'), await form.json()]).toMatchObject([
      'no-store',
      { active: true },
    ]);
    const nobody = await call('POST', '/v1/oauth/introspect', {}, { token: tokens.access_token });
    expect([nobody.status, nobody.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^Bearer realm="[^"]*"$/),
    ]);
    const none = await call('POST', '/v1/oauth/introspect', bearer, {});
    expect([none.status, none.json()]).toMatchObject([400, { error: 'invalid_request' }]);
  });
});
