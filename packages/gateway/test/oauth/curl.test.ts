import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runGateway, type RunningGateway } from './running-gateway.ts';

let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await runGateway({ 'oauth.introspection': true, 'oauth.deviceIntervalSeconds': 1 });
});
afterAll(() => gateway.close());

const scope = 'profile vendor_api';

/** As a resource server does that knows no more than the issuer. */
async function verify(token: string) {
  const keys = createRemoteJWKSet(new URL(`${gateway.url}/.well-known/jwks.json`));
  const options = { issuer: gateway.url, audience: gateway.url, typ: 'at+jwt', algorithms: ['ES256'] };
  return (await jwtVerify(token, keys, options)).payload;
}

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** By curl, as a person at a terminal would. */
async function curl(path: string, ...options: string[]): Promise<{ status: number; json: unknown }> {
  const write = '\n%{http_code}';
  const { stdout } = await promisify(execFile)('curl', ['-sS', '-w', write, ...options, gateway.url + path]);
  const end = stdout.lastIndexOf('\n');
  const body = stdout.slice(0, end);
  return { status: Number(stdout.slice(end + 1)), json: body === '' ? undefined : JSON.parse(body) };
}

const data = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields).flatMap(([name, value]) => ['--data-urlencode', `${name}=${value}`]);

async function deviceLogin(): Promise<Tokens> {
  const { json } = await curl(
    '/v1/oauth/device_authorization',
    ...data({ client_id: gateway.clientId, scope }),
  );
  const device = json as { device_code: string; verification_uri_complete: string };
  await gateway.approveDevice(device.verification_uri_complete);
  const grant = {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: device.device_code,
    client_id: gateway.clientId,
  };
  return (await curl('/v1/oauth/token', ...data(grant))).json as Tokens;
}

describe('curl', () => {
  test('gets along with forms alone: device, refresh, introspection, revocation', async () => {
    const { url, clientId } = gateway;
    const metadata = await curl('/.well-known/oauth-authorization-server');
    expect(metadata).toMatchObject({ status: 200, json: { issuer: url } });
    const tokens = await deviceLogin();
    const refreshed = await curl(
      '/v1/oauth/token',
      ...data({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token, client_id: clientId }),
    );
    expect(refreshed).toMatchObject({ status: 200, json: { token_type: 'Bearer', expires_in: 3600 } });
    const { access_token, refresh_token: token } = refreshed.json as Tokens;
    const bearer = ['-H', `Authorization: Bearer ${access_token}`];
    const introspected = await curl(
      '/v1/oauth/introspect',
      ...bearer,
      ...data({ token: tokens.access_token }),
    );
    expect(introspected).toMatchObject({ status: 200, json: { active: true } });
    const revoked = await curl('/v1/oauth/revoke', ...data({ token, client_id: clientId }));
    expect(revoked).toEqual({ status: 200, json: undefined });
    expect(await curl('/api/oauth/profile', ...bearer)).toMatchObject({
      status: 401,
      json: { error: 'invalid_token' },
    });
  });

  test('and with JSON', async () => {
    const body = JSON.stringify({ client_id: gateway.clientId });
    const json = ['-H', 'Content-Type: application/json', '-d', body];
    expect(await curl('/v1/oauth/device_authorization', ...json)).toMatchObject({
      status: 200,
      json: { expires_in: 900, interval: 1 },
    });
  });
});

describe('jose', () => {
  test('verifies by the published keys, and refuses what was tampered with', async () => {
    const tokens = await deviceLogin();
    const { access_token: token } = tokens;
    const payload = await verify(token);
    expect(Object.keys(payload).sort()).toEqual(
      ['aud', 'client_id', 'exp', 'fid', 'iat', 'iss', 'jti', 'org', 'scope', 'sub'].sort(),
    );
    const [header = '', body = '', signature = ''] = token.split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...claims, scope: 'everything' })).toString('base64url');
    await expect(verify(`${header}.${forged}.${signature}`)).rejects.toMatchObject({
      code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
    });
  });
});
