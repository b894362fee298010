import { describe, expect, test } from 'vitest';
import { callback, clientId, codeRequest, deviceGrantType, verifier } from './open-server.ts';
import { openOverHttp as open } from './over-http.ts';

describe('over HTTP', () => {
  test('session key, code, tokens, refresh, profile, device, bootstrap, revocation', async () => {
    await using opened = await open();
    const { url, organizationId, sessionKey, owner } = opened;
    const json = { 'content-type': 'application/json' };
    const authorized = await fetch(`${url}/v1/oauth/${organizationId}/authorize`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${sessionKey}` },
      body: JSON.stringify(codeRequest(organizationId, { scope: 'profile vendor_api' })),
    });
    const { redirect_uri: location } = (await authorized.json()) as { redirect_uri: string };
    const post = (path: string, body: string | URLSearchParams, headers: Record<string, string> = {}) =>
      fetch(url + path, { method: 'POST', body, headers });
    const exchanged = await post(
      '/v1/oauth/token',
      new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: clientId,
        code: new URL(location).searchParams.get('code') ?? '',
        code_verifier: verifier,
        redirect_uri: callback,
      }),
    );
    expect([
      exchanged.status,
      exchanged.headers.get('cache-control'),
      exchanged.headers.get('pragma'),
    ]).toEqual([200, 'no-store', 'no-cache']);
    const tokens = (await exchanged.json()) as { access_token: string; refresh_token: string };
    const refreshed = await post(
      '/v1/oauth/token',
      JSON.stringify({
        grant_type: 'refresh_token',
        client_id: clientId,
        refresh_token: tokens.refresh_token,
      }),
      json,
    );
    expect(refreshed.status).toBe(200);
    const bearer = { authorization: `Bearer ${tokens.access_token}` };
    const profile = await fetch(`${url}/api/oauth/profile`, { headers: bearer });
    expect(await profile.json()).toEqual({
      organization: {
        organization_type: 'agent_team',
        rate_limit_tier: 'default',
        uuid: organizationId,
        name: 'Default',
      },
      account: { uuid: owner.accountId, email: 'owner@localhost', role: 'admin' },
    });
    const trusted = await post('/api/auth/trusted_devices', '{"display_name":" my laptop "}', {
      ...json,
      ...bearer,
    });
    const deviceToken = await trusted.text();
    expect(deviceToken).toMatch(/^spt_[\w-]{43}$/);
    const mine = { accountId: owner.accountId, organizationId };
    expect(await opened.server.trustedDevices.check(deviceToken, mine)).toMatchObject({
      deviceId: expect.any(String) as string,
    });
    const bootstrap = async (headers: Record<string, string>) =>
      await (await fetch(`${url}/api/bootstrap`, { headers })).json();
    const known = {
      account: {
        uuid: owner.accountId,
        memberships: [
          {
            organization: {
              uuid: organizationId,
              capabilities: ['agent_code'],
              name: expect.any(String) as string,
            },
          },
        ],
      },
    };
    expect(await bootstrap(bearer)).toEqual(known);
    expect(await bootstrap({ authorization: `Bearer ${sessionKey}` })).toEqual(known);
    expect(await bootstrap({})).toEqual({
      account: { uuid: '00000000-0000-0000-0000-000000000000', memberships: [] },
    });
    const revoked = await post(
      '/v1/oauth/revoke',
      JSON.stringify({ client_id: clientId, token: tokens.access_token }),
      json,
    );
    expect([revoked.status, await revoked.text()]).toEqual([200, '']);
    const refused = await fetch(`${url}/api/oauth/profile`, { headers: bearer });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"');
  });

  test('refuses repeated form fields, other values than text, and an unknown client with a plain 401', async () => {
    await using opened = await open();
    const post = async (body: string, type: string) => {
      const answer = await fetch(`${opened.url}/v1/oauth/token`, {
        method: 'POST',
        body,
        headers: { 'content-type': type },
      });
      const { error } = (await answer.json()) as { error: string };
      return [answer.status, error, answer.headers.get('www-authenticate')];
    };
    const form = 'application/x-www-form-urlencoded';
    const grant = `grant_type=${encodeURIComponent(deviceGrantType)}&device_code=x`;
    expect(await post(`${grant}&client_id=a&client_id=b`, form)).toEqual([400, 'invalid_request', null]);
    expect(await post(`${grant}&client_id=${clientId}&x=1&x=2`, form)).toEqual([
      400,
      'invalid_request',
      null,
    ]);
    expect(await post('{"grant_type":5}', 'application/json')).toEqual([400, 'invalid_request', null]);
    expect(await post('[]', 'application/json')).toEqual([400, 'invalid_request', null]);
    expect(await post(`${grant}&client_id=nobody`, form)).toEqual([401, 'invalid_client', null]);
    expect(await post('{}', 'text/plain')).toEqual([400, 'invalid_request', null]);
  });

  test('discovery and keys may be cached, and are not sent twice', async () => {
    await using opened = await open();
    const document = opened.server.metadata;
    const documents = {
      '/.well-known/oauth-authorization-server': document,
      '/.well-known/openid-configuration': document,
      '/.well-known/jwks.json': await opened.server.signer.jwks(),
    };
    for (const [path, body] of Object.entries(documents)) {
      const first = await fetch(opened.url + path);
      expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
      expect(await first.json()).toEqual(body);
      const etag = first.headers.get('etag') ?? '';
      const again = await fetch(opened.url + path, { headers: { 'if-none-match': `W/${etag}` } });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
    const keys = await fetch(`${opened.url}/.well-known/jwks.json`);
    const { keys: published } = (await keys.json()) as { keys: Record<string, unknown>[] };
    expect(published.map((key) => Object.keys(key).sort())).toEqual([
      ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
    ]);
  });
});
