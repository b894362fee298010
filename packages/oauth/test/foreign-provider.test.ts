import { undiciTransport } from '@sallyport/core/client';
import { ManualClock } from '@sallyport/core/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  loginWithBrowser,
  loginWithDevice,
  logout,
  memoryTokenStore,
  refreshLogin,
  discover,
  TokenProvider,
} from '../src/index.ts';
import { clientId, startForeignProvider, type ForeignProvider } from './foreign-provider.ts';

// The client half against a server that nobody here wrote; what is set is what any such server needs to be told of: forms
// instead of JSON, and the scopes that it has.

const transport = undiciTransport();
let foreign: ForeignProvider;
beforeAll(async () => {
  // It says at length what its configuration would need in production.
  for (const method of ['info', 'warn'] as const) vi.spyOn(console, method).mockReturnValue();
  foreign = await startForeignProvider();
});
beforeEach(() => void (foreign.person.consents = true));
afterAll(async () => {
  vi.restoreAllMocks();
  await foreign.close();
  await transport.close();
});

const options = () => ({ baseUrl: foreign.baseUrl, transport, clientId, encoding: 'form' as const });
const scope = 'openid profile email';
const key = 'default';

const browserLogin = () =>
  loginWithBrowser({
    ...options(),
    scope,
    openBrowser: (url) => void foreign.browse(url).catch(() => undefined), // nobody looks at its page
  });

const deviceLogin = () => {
  const clock = new ManualClock(Date.now());
  return loginWithDevice({
    ...options(),
    clock,
    scope,
    onPrompt: ({ verification_uri_complete: address = '' }) =>
      void foreign.browse(address).then(() => clock.advance(5000)),
  });
};

/** What the server says of an access token. */
async function userInfoStatus(token: string): Promise<number> {
  const answer = await fetch(`${foreign.baseUrl}/me`, { headers: { authorization: `Bearer ${token}` } });
  await answer.arrayBuffer();
  return answer.status;
}

describe('oidc-provider', () => {
  test('logs in by browser', async () => {
    const login = await browserLogin();
    expect(login).toMatchObject({ baseUrl: foreign.baseUrl, clientId, scope });
    expect(login.refreshToken).toEqual(expect.any(String));
    expect(await userInfoStatus(login.accessToken)).toBe(200);
  });

  test('logs in by device code', async () => {
    const { accessToken } = await deviceLogin();
    expect(await userInfoStatus(accessToken)).toBe(200);
  });

  test('tells that the person denied it, either way', async () => {
    foreign.person.consents = false;
    await expect(browserLogin()).rejects.toMatchObject({ code: 'denied' });
    await expect(deviceLogin()).rejects.toMatchObject({ code: 'denied' });
  });

  test('refreshes with rotation, once for all who ask, and again after that', async () => {
    const store = memoryTokenStore();
    await store.save(key, await browserLogin());
    const tokens = new TokenProvider({ ...options(), store, key });
    const seen = new Set([await tokens.token()]);
    for (let count = 0; count < 2; count += 1) {
      const before = (await store.load(key))?.refreshToken;
      const [one, other] = await Promise.all([
        tokens.token({ forceRefresh: true }),
        tokens.token({ forceRefresh: true }),
      ]);
      expect(one).toBe(other);
      expect(await userInfoStatus(one)).toBe(200);
      expect((await store.load(key))?.refreshToken).not.toBe(before);
      seen.add(one);
    }
    expect(seen.size).toBe(3);
  });

  test('a refresh token that was used before needs a new login', async () => {
    const server = await discover(options());
    const login = await browserLogin();
    await refreshLogin(server, login);
    await expect(refreshLogin(server, login)).rejects.toMatchObject({ code: 'login_required' });
  });

  test('logs out: both tokens are dead there, and gone here', async () => {
    const store = memoryTokenStore();
    const login = await browserLogin();
    await store.save(key, login);
    expect(await userInfoStatus(login.accessToken)).toBe(200);
    expect(await logout({ transport, encoding: 'form', store, key })).toEqual({ removed: true });
    expect(await store.load(key)).toBe(undefined);
    expect(await userInfoStatus(login.accessToken)).toBe(401);
    await expect(refreshLogin(await discover(options()), login)).rejects.toMatchObject({
      code: 'login_required',
    });
  });
});
