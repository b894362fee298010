import { createClient, undiciTransport } from '@sallyport/core/client';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startScriptedServer, tokens, type ScriptedServer } from '../../test/scripted-server.ts';
import { environmentToken } from '../store/environment.ts';
import { memoryTokenStore } from '../store/memory.ts';
import { systemTokenStore } from '../store/system.ts';
import type { Credentials, TokenStore } from '../store/token-store.ts';
import { LoginError } from './login-error.ts';
import { logout } from './logout.ts';
import { storeLogin, trustDevice } from './stored-login.ts';
import { TokenProvider } from './token-provider.ts';

const transport = undiciTransport();
afterAll(() => transport.close());

let server: ScriptedServer;
let store: TokenStore;
beforeEach(async () => {
  server = await startScriptedServer();
  server.on('/v1/oauth/revoke', { body: '' });
  store = memoryTokenStore();
});
afterEach(() => server.close());

const login = (more: Partial<Credentials> = {}): Credentials => ({
  baseUrl: server.baseUrl,
  clientId: 'client-1',
  accountId: 'account-1',
  accessToken: 'at-0',
  refreshToken: 'rt-0',
  expiresAt: Date.now() + 3_600_000,
  scope: 'profile',
  ...more,
});
const corrupt = () => Promise.reject(new LoginError('store_corrupt', 'No login.'));

describe('logout', () => {
  test('revokes the refresh token and forgets the login', async () => {
    await store.save('main', login());
    expect(await logout({ store, key: 'main', transport })).toEqual({ removed: true });
    expect(server.to('/v1/oauth/revoke')[0]?.body).toEqual({
      token: 'rt-0',
      token_type_hint: 'refresh_token',
      client_id: 'client-1',
    });
    expect(await store.load('main')).toBeUndefined();
    expect(await logout({ store, key: 'main', transport })).toEqual({ removed: false });
    expect(server.to('/v1/oauth/revoke')).toHaveLength(1);
  });

  test.each([
    ['does not answer', () => server.on('/v1/oauth/revoke', 'reset'), 'unreachable'],
    ['refuses', () => server.on('/v1/oauth/revoke', { status: 500 }), 'internal_error'],
    [
      'has no revocation',
      () => server.on('/.well-known/oauth-authorization-server', { body: { issuer: server.baseUrl } }),
      'unsupported',
    ],
  ])('forgets the login too where the service %s, and says so', async (_, misbehave, code) => {
    misbehave();
    await store.save('main', login());
    expect(await logout({ store, key: 'main', transport })).toMatchObject({
      removed: true,
      failure: { code },
    });
    expect(await store.load('main')).toBeUndefined();
  });

  test('is the way out of a damaged login', async () => {
    await store.save('main', login());
    const damaged = { ...store, load: corrupt };
    expect(await logout({ store: damaged, key: 'main', transport })).toMatchObject({
      failure: { code: 'store_corrupt' },
    });
    expect(await store.load('main')).toBeUndefined();
  });

  test('of nobody is done where nothing can be written; of a login that is there it fails', async () => {
    const directory = '/proc/sallyport/logins';
    expect(
      await logout({ store: systemTokenStore({ directory, service: 'x' }), key: 'main', transport }),
    ).toEqual({
      removed: false,
    });
    await store.save('main', login());
    const failure = new LoginError('store_failed', 'It is read-only.');
    const readOnly = { ...store, withLock: () => Promise.reject(failure) };
    await expect(logout({ store: readOnly, key: 'main', transport })).rejects.toBe(failure);
    expect(server.to('/v1/oauth/revoke')).toEqual([]);
  });

  test('waits for a refresh under way, which would store the login again', async () => {
    await store.save('main', login({ expiresAt: 0 }));
    let loggedOut: Promise<unknown> | undefined;
    server.on('/v1/oauth/token', () => {
      loggedOut = logout({ store, key: 'main', transport });
      return { body: tokens(1) };
    });
    await new TokenProvider({ store, key: 'main', transport }).token();
    await loggedOut;
    expect(server.to('/v1/oauth/revoke')[0]?.body['token']).toBe('rt-1');
    expect(await store.load('main')).toBeUndefined();
  });
});

describe('a trusted device token', () => {
  test('is kept with the login, even if the call has to renew that first', async () => {
    await store.save('main', login({ expiresAt: 0 }));
    server.on('/v1/oauth/token', { body: tokens(1) });
    server.on('/api/auth/trusted_devices', { body: 'tdt-1' });
    const tokenSource = new TokenProvider({ store, key: 'main', transport });
    const client = createClient({ baseUrl: server.baseUrl, transport, tokens: tokenSource });
    expect(await trustDevice({ client, store, key: 'main', displayName: 'laptop' })).toBe('tdt-1');
    expect(server.to('/api/auth/trusted_devices')[0]?.body).toEqual({ display_name: 'laptop' });
    expect(await store.load('main')).toMatchObject({ refreshToken: 'rt-1', deviceToken: 'tdt-1' });
  });

  test('does not bring back a login that was removed meanwhile', async () => {
    server.on('/api/auth/trusted_devices', { body: 'tdt-1' });
    const tokenSource = { token: () => Promise.resolve('at-0') };
    const client = createClient({ baseUrl: server.baseUrl, transport, tokens: tokenSource });
    await expect(trustDevice({ client, store, key: 'main', displayName: 'laptop' })).rejects.toMatchObject({
      code: 'login_required',
    });
    expect(await store.load('main')).toBeUndefined();
  });

  test.each([
    ['stays at a new login of the same account', {}, 'tdt-0'],
    ['goes with another account', { accountId: 'account-2' }, undefined],
    ['goes with another organization', { organizationId: 'org-2' }, undefined],
    ['goes with another service', { baseUrl: 'https://gate.example' }, undefined],
  ])('%s', async (_, more, kept) => {
    await store.save('main', login({ deviceToken: 'tdt-0' }));
    const { stored } = await storeLogin(store, 'main', login({ accessToken: 'at-9', ...more }));
    expect(stored.deviceToken).toBe(kept);
    expect(await store.load('main')).toEqual(stored);
  });
});

test('a new login gives the one that it replaced, unless its refresh token is the same', async () => {
  expect(await storeLogin(store, 'main', login())).not.toHaveProperty('replaced');
  const again = await storeLogin(store, 'main', login({ refreshToken: 'rt-9' }));
  expect(again.replaced).toMatchObject({ refreshToken: login().refreshToken });
  expect(await storeLogin(store, 'main', login({ refreshToken: 'rt-9' }))).not.toHaveProperty('replaced');
});

test.each(['store_corrupt', 'store_newer'] as const)('a new login replaces one that is %s', async (code) => {
  const load = () => Promise.reject(new LoginError(code, 'No login.'));
  await storeLogin({ ...store, load }, 'main', login());
  expect(await store.load('main')).toMatchObject(login({ expiresAt: expect.any(Number) as number }));
});

describe('SALLYPORT_TOKEN', () => {
  test('is given as it is, without white space around it; empty counts as unset', async () => {
    expect(await environmentToken({ SALLYPORT_TOKEN: ' sk-1\n' })?.token()).toBe('sk-1');
    expect(environmentToken({ SALLYPORT_TOKEN: ' ' })).toBeUndefined();
    expect(environmentToken({})).toBeUndefined();
  });

  test('is not renewed once it is refused', async () => {
    const tokenSource = environmentToken({ SALLYPORT_TOKEN: 'sk-1' });
    await expect(tokenSource?.token({ forceRefresh: true })).rejects.toMatchObject({ code: 'token_refused' });
  });
});
