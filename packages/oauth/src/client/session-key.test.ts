import { undiciTransport } from '@sallyport/core/client';
import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import {
  accessToken,
  refusal,
  startScriptedServer,
  tokens,
  type ScriptedServer,
} from '../../test/scripted-server.ts';
import { firstPartyClient } from '@sallyport/core/contract';
import { loginWithSessionKey } from './session-key.ts';

const transport = undiciTransport();
afterAll(() => transport.close());

let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer();
  server.on('/api/bootstrap', { body: account('org-1') });
  server.on('/v1/oauth/org-1/authorize', ({ body }) => redirect({ state: String(body['state']) }));
  server.on('/v1/oauth/token', { body: { ...tokens(1), scope: 'profile' } });
});
afterEach(() => server.close());

const account = (...uuids: string[]) => ({
  account: {
    uuid: 'account-1',
    memberships: uuids.map((uuid) => ({ organization: { uuid, capabilities: [] } })),
  },
});
const redirect = (query: Record<string, string>) => ({
  body: {
    redirect_uri: `http://127.0.0.1/callback?${new URLSearchParams({ code: 'c-1', iss: server.baseUrl, ...query }).toString()}`,
  },
});
const login = (more: object = {}) =>
  loginWithSessionKey({ baseUrl: server.baseUrl, transport, sessionKey: 'sk-1', ...more });

test('asks which organization, authorizes there, exchanges the code', async () => {
  const started = Date.now();
  const credentials = await login();
  expect(credentials).toEqual({
    baseUrl: server.baseUrl,
    clientId: firstPartyClient.id,
    organizationId: 'org-1',
    accountId: 'account-1',
    accessToken: accessToken('at-1'),
    refreshToken: 'rt-1',
    requestedAt: expect.any(Number) as number,
    expiresAt: expect.any(Number) as number,
    scope: 'profile',
  });
  expect(credentials.expiresAt - started).toBeGreaterThanOrEqual(3_600_000);
  expect(server.to('/api/bootstrap')[0]?.headers.authorization).toBe('Bearer sk-1');
  const [authorize] = server.to('/v1/oauth/org-1/authorize');
  const [token] = server.to('/v1/oauth/token');
  expect(authorize?.headers.authorization).toBe('Bearer sk-1');
  expect(authorize?.body).toMatchObject({
    response_type: 'code',
    client_id: firstPartyClient.id,
    organization_uuid: 'org-1',
    scope: 'openid profile email vendor_api',
    code_challenge_method: 'S256',
  });
  expect(token?.headers.authorization).toBeUndefined();
  expect(token?.body).toMatchObject({
    grant_type: 'authorization_code',
    code: 'c-1',
    redirect_uri: authorize?.body['redirect_uri'],
    client_id: firstPartyClient.id,
  });
  const verifier = String(token?.body['code_verifier']);
  expect(createHash('sha256').update(verifier).digest('base64url')).toBe(authorize?.body['code_challenge']);
});

test('takes the organization, the scope and the dialect that it is given', async () => {
  server.on('/v1/oauth/org-2/authorize', ({ body }) => redirect({ state: String(body['state']) }));
  await login({ organizationId: 'org-2', dialect: { vendor: 'acme', agent: 'robot' } });
  await login({ organizationId: 'org-2', scope: 'profile' });
  const scopes = server.to('/v1/oauth/org-2/authorize').map(({ body }) => body['scope']);
  expect(scopes).toEqual(['openid profile email acme_api', 'profile']);
  expect(server.to('/api/bootstrap')).toHaveLength(0);
});

test('a key that the service does not know is refused, not taken for an account without organizations', async () => {
  const nobody = { account: { uuid: '00000000-0000-0000-0000-000000000000', memberships: [] } };
  server.on('/api/bootstrap', { body: nobody });
  await expect(login()).rejects.toMatchObject({ status: 401, code: 'invalid_token' });
});

test('says what to do without an organization, or with several', async () => {
  server.on('/api/bootstrap', { body: account() });
  await expect(login()).rejects.toMatchObject({ code: 'no_organization' });
  server.on('/api/bootstrap', { body: account('org-1', 'org-2') });
  await expect(login()).rejects.toMatchObject({
    code: 'organization_required',
    message: expect.stringContaining('org-1, org-2') as string,
  });
  const named = account('org-1', 'org-2');
  Object.assign(named.account.memberships[1]!.organization, { name: 'Team' });
  server.on('/api/bootstrap', { body: named });
  await expect(login()).rejects.toThrow('org-1, Team (org-2)');
});

test('passes on that the session key was refused', async () => {
  server.on('/v1/oauth/org-1/authorize', { status: 401, body: refusal('invalid_token') });
  await expect(login()).rejects.toMatchObject({ name: 'ServiceError', status: 401 });
});

test('redeems no code that belongs to another login, comes from another issuer, or is a refusal', async () => {
  const answer = (query: Record<string, string>) =>
    server.on('/v1/oauth/org-1/authorize', ({ body }) =>
      redirect({ state: String(body['state']), ...query }),
    );
  answer({ state: 'other' });
  await expect(login()).rejects.toMatchObject({ name: 'LoginError', code: 'state_mismatch' });
  answer({ iss: 'https://evil.example' });
  await expect(login()).rejects.toMatchObject({ name: 'LoginError', code: 'issuer_mismatch' });
  answer({ error: 'access_denied' });
  await expect(login()).rejects.toMatchObject({ name: 'LoginError', code: 'denied' });
  answer({ error: 'invalid_scope', error_description: 'No such scope.' });
  await expect(login()).rejects.toMatchObject({
    name: 'ServiceError',
    code: 'invalid_scope',
    message: 'No such scope.',
  });
  expect(server.to('/v1/oauth/token')).toHaveLength(0);
});

test('ends at once when aborted, before and during the login', async () => {
  await expect(login({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' });
  expect(server.received).toHaveLength(0);
  const interrupted = new AbortController();
  server.on('/v1/oauth/token', () => {
    interrupted.abort();
    return new Promise(() => undefined);
  });
  await expect(login({ signal: interrupted.signal })).rejects.toMatchObject({
    name: 'LoginError',
    code: 'aborted',
  });
});
