import * as oauth from 'oauth4webapi';
import { allowInsecureRequests } from 'oauth4webapi';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { redirectUri, runGateway, type RunningGateway } from './running-gateway.ts';

// Clients that nobody here wrote, as they come: what is set is what their documentation says for a loopback address.

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await runGateway({ 'oauth.introspection': true, 'oauth.deviceIntervalSeconds': 1 });
});
afterAll(() => gateway.close());

const scope = 'profile vendor_api';

/** What the gateway says of a token by its own lights. */
async function profileStatus(token: string): Promise<number> {
  const answer = await fetch(`${gateway.url}/api/oauth/profile`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await answer.arrayBuffer();
  return answer.status;
}

describe('openid-client', () => {
  const configure = (algorithm: 'oauth2' | 'oidc', none = openid.None()) =>
    openid.discovery(new URL(gateway.url), gateway.clientId, undefined, none, {
      execute: [openid.allowInsecureRequests],
      algorithm,
    });

  async function login(config: openid.Configuration) {
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const expectedState = openid.randomState();
    const request = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope,
      state: expectedState,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const answer = await gateway.approve(request);
    return openid.authorizationCodeGrant(config, answer, { pkceCodeVerifier, expectedState });
  }

  test.each(['oauth2', 'oidc'] as const)('logs in by browser with discovery as in %s', async (algorithm) => {
    const config = await configure(algorithm);
    expect(config.serverMetadata().supportsPKCE()).toBe(true);
    const tokens = await login(config);
    expect(tokens).toMatchObject({ token_type: 'bearer', scope, expires_in: 3600 });
    expect(await profileStatus(tokens.access_token)).toBe(200);
  });

  test('refreshes, introspects and revokes', async () => {
    const config = await configure('oauth2');
    const first = await login(config);
    const second = await openid.refreshTokenGrant(config, first.refresh_token ?? '');
    expect(second.refresh_token).not.toBe(first.refresh_token);
    const narrow = await openid.refreshTokenGrant(config, second.refresh_token ?? '', { scope: 'profile' });
    expect(narrow.scope).toBe('profile');

    await openid.tokenRevocation(config, narrow.refresh_token ?? '');
    expect(await profileStatus(first.access_token)).toBe(401);
    await expect(openid.refreshTokenGrant(config, narrow.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
      status: 400,
    });
  });

  test('introspects with an access token as its authentication, which the metadata offer', async () => {
    const caller = await login(await configure('oauth2'));
    const config = await configure('oauth2', (_server, _client, _body, headers) =>
      headers.set('authorization', `Bearer ${caller.access_token}`),
    );
    const subject = await login(await configure('oauth2'));
    expect(await openid.tokenIntrospection(config, subject.access_token)).toMatchObject({
      active: true,
      client_id: gateway.clientId,
      iss: gateway.url,
      scope,
    });
    expect(await openid.tokenIntrospection(config, 'nothing')).toEqual({ active: false });
  });

  test('logs a device in, polling before and after the approval', async () => {
    const config = await configure('oauth2');
    const device = await openid.initiateDeviceAuthorization(config, { scope });
    const polling = openid.pollDeviceAuthorizationGrant(config, device);
    await gateway.approveDevice(device.verification_uri_complete ?? '');
    const tokens = await polling;
    expect(tokens.scope).toBe(scope);
    expect(await profileStatus(tokens.access_token)).toBe(200);
  });

  test('tells a denied login from a failure', async () => {
    const config = await configure('oauth2');
    const request = openid.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      state: 's',
      code_challenge: await openid.calculatePKCECodeChallenge(openid.randomPKCECodeVerifier()),
      code_challenge_method: 'S256',
    });
    const consent = await gateway.browser.get(request.pathname + request.search);
    const { location } = await gateway.browser.submit(consent, { decision: 'deny' });
    await expect(
      openid.authorizationCodeGrant(config, new URL(location ?? ''), {
        pkceCodeVerifier: openid.randomPKCECodeVerifier(),
        expectedState: 's',
      }),
    ).rejects.toMatchObject({ error: 'access_denied' });
  });
});

describe('oauth4webapi', () => {
  const insecure = { [allowInsecureRequests]: true };
  const none = oauth.None();

  async function discover() {
    const issuer = new URL(gateway.url);
    const answer = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' });
    const server = await oauth.processDiscoveryResponse(issuer, answer);
    return { server, client: { client_id: gateway.clientId } };
  }

  async function login() {
    const { server, client } = await discover();
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const request = new URL(server.authorization_endpoint ?? '');
    request.search = new URLSearchParams({
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: redirectUri,
      scope,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }).toString();
    const answer = oauth.validateAuthResponse(server, client, await gateway.approve(request), state);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      none,
      answer,
      redirectUri,
      verifier,
      insecure,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response);
    return { server, client, tokens };
  }

  test('logs in by browser, refreshes, revokes', async () => {
    const { server, client, tokens } = await login();
    const response = await oauth.refreshTokenGrantRequest(
      server,
      client,
      none,
      tokens.refresh_token ?? '',
      insecure,
    );
    const renewed = await oauth.processRefreshTokenResponse(server, client, response);
    expect(renewed.refresh_token).not.toBe(tokens.refresh_token);
    expect(await profileStatus(renewed.access_token)).toBe(200);
    const revoked = await oauth.revocationRequest(
      server,
      client,
      none,
      renewed.refresh_token ?? '',
      insecure,
    );
    expect(await oauth.processRevocationResponse(revoked)).toBe(undefined);
    expect(await profileStatus(renewed.access_token)).toBe(401);
  });

  test('validates an access token by RFC 9068', async () => {
    const { server, tokens } = await login();
    const request = new Request('http://resource.example', {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    const claims = await oauth.validateJwtAccessToken(server, request, gateway.url, insecure);
    expect(claims).toMatchObject({ iss: gateway.url, client_id: gateway.clientId, scope });
  });

  test('introspects', async () => {
    const { server, client, tokens } = await login();
    const bearer: oauth.ClientAuth = (_server, _client, _body, headers) =>
      headers.set('authorization', `Bearer ${tokens.access_token}`);
    const ask = async (token: string) => {
      const response = await oauth.introspectionRequest(server, client, bearer, token, insecure);
      return oauth.processIntrospectionResponse(server, client, response);
    };
    expect(await ask(tokens.refresh_token ?? '')).toMatchObject({ active: true, scope });
    expect(await ask('nothing')).toEqual({ active: false });
  });

  test('reads each refusal of a device code as what it is', async () => {
    const { server, client } = await discover();
    const parameters = new URLSearchParams({ scope });
    const started = await oauth.processDeviceAuthorizationResponse(
      server,
      client,
      await oauth.deviceAuthorizationRequest(server, client, none, parameters, insecure),
    );
    const poll = async () => {
      const response = await oauth.deviceCodeGrantRequest(
        server,
        client,
        none,
        started.device_code,
        insecure,
      );
      return oauth.processDeviceCodeResponse(server, client, response);
    };
    await expect(poll()).rejects.toMatchObject({ error: 'authorization_pending', status: 400 });
    await gateway.approveDevice(started.verification_uri_complete ?? '');
    expect(await poll()).toMatchObject({ token_type: 'bearer', scope });
    await expect(poll()).rejects.toMatchObject({ error: 'invalid_grant' });
  });
});
