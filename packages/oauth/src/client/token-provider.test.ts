import { isLoginRequired } from '@sallyport/core';
import { createClient, undiciTransport } from '@sallyport/core/client';
import { ManualClock } from '@sallyport/core/testing';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { drive } from '../../test/drive.ts';
import {
  accessToken,
  refusal,
  startScriptedServer,
  tokens,
  type ScriptedServer,
} from '../../test/scripted-server.ts';
import { memoryTokenStore } from '../store/memory.ts';
import type { Credentials, TokenStore } from '../store/token-store.ts';
import { LoginError } from './login-error.ts';
import { TokenProvider } from './token-provider.ts';

const transport = undiciTransport();
afterAll(() => transport.close());

let clock: ManualClock;
let server: ScriptedServer;
let store: TokenStore;
beforeEach(async () => {
  clock = new ManualClock();
  server = await startScriptedServer(() => clock.now());
  store = memoryTokenStore();
  let issued = 0;
  server.on('/v1/oauth/token', () => ({ body: tokens((issued += 1)) }));
  await store.save('main', login());
});
afterEach(() => server.close());

const login = (more: Partial<Credentials> = {}): Credentials => ({
  baseUrl: server.baseUrl,
  clientId: 'client-1',
  accessToken: 'at-0',
  refreshToken: 'rt-0',
  expiresAt: clock.now() + 3_600_000,
  scope: 'profile vendor_api',
  deviceToken: 'tdt-0',
  ...more,
});
const provider = () => new TokenProvider({ store, key: 'main', transport, clock });
const refreshes = () => server.to('/v1/oauth/token').map(({ body }) => body['refresh_token']);

test('a login for another organization does not take the place of the one before, until it is for that one again', async () => {
  await store.save('main', login({ organizationId: 'org-1' }));
  const tokenSource = provider();
  expect(await tokenSource.token()).toBe('at-0');
  await store.save('main', login({ organizationId: 'org-2', accessToken: 'at-other' }));
  const error: unknown = await tokenSource.token({ forceRefresh: true }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'other_organization' });
  expect(isLoginRequired(error)).toBe(true);
  await expect(tokenSource.token()).rejects.toMatchObject({ code: 'other_organization' });
  expect(await provider().token()).toBe('at-other');
  await store.save('main', login({ organizationId: 'org-1', accessToken: 'at-again' }));
  expect(await tokenSource.token()).toBe('at-again');
  expect(refreshes()).toEqual([]);
});

describe('a stored token', () => {
  test('is given until shortly before it expires, then a new one is, stored first', async () => {
    const tokenSource = provider();
    await clock.advance(3_569_000);
    expect(await tokenSource.token()).toBe('at-0');
    expect(refreshes()).toEqual([]);
    await clock.advance(1_000);
    expect(await tokenSource.token()).toBe(accessToken('at-1'));
    expect(await tokenSource.token()).toBe(accessToken('at-1'));
    expect(refreshes()).toEqual(['rt-0']);
    expect(await store.load('main')).toEqual(
      login({
        accessToken: accessToken('at-1'),
        refreshToken: 'rt-1',
        requestedAt: clock.now(),
        expiresAt: clock.now() + 3_600_000,
      }),
    );
  });

  test.each([-86_400_000, 86_400_000])(
    'lives as long where the two clocks are %i ms apart',
    async (apart) => {
      // A lifetime is counted from the request, by this machine's clock; no time of the server is compared with it.
      server.on('/v1/oauth/token', () => ({
        body: tokens(1),
        headers: { date: new Date(clock.now() + apart).toUTCString() },
      }));
      await store.save('main', login({ expiresAt: 0 }));
      const tokenSource = provider();
      await tokenSource.token();
      await clock.advance(3_569_000);
      await tokenSource.token();
      expect(refreshes()).toHaveLength(1);
      await clock.advance(1_000);
      await tokenSource.token();
      expect(refreshes()).toHaveLength(2);
    },
  );

  test('of before the clock was set back is renewed, since its expiry means nothing any more', async () => {
    clock.jump(7_200_000); // two hours ahead, as of a machine that takes local time for UTC
    await store.save('main', login({ requestedAt: clock.now() }));
    clock.jump(-20_000); // within what clocks are corrected by all the time
    expect(await provider().token()).toBe('at-0');
    clock.jump(-7_180_000);
    const tokenSource = provider();
    expect(await tokenSource.token()).toBe(accessToken('at-1'));
    expect(await tokenSource.token()).toBe(accessToken('at-1'));
    expect(refreshes()).toEqual(['rt-0']);
  });

  test('that was refused is renewed; whoever was refused with an older one gets the new one', async () => {
    const tokenSource = provider();
    expect(await tokenSource.token()).toBe('at-0');
    expect(await tokenSource.token({ forceRefresh: true, refused: 'at-0' })).toBe(accessToken('at-1'));
    expect(await tokenSource.token({ forceRefresh: true, refused: 'at-0' })).toBe(accessToken('at-1'));
    expect(refreshes()).toEqual(['rt-0']);
    expect(await tokenSource.token({ forceRefresh: true })).toBe(accessToken('at-2'));
  });

  test('that another process renewed is taken from the store, not renewed again', async () => {
    const tokenSource = provider();
    await tokenSource.token();
    await store.save('main', login({ accessToken: 'at-other', refreshToken: 'rt-other' }));
    expect(await tokenSource.token({ forceRefresh: true, refused: 'at-0' })).toBe('at-other');
    expect(refreshes()).toEqual([]);
  });

  test('is never stored later than used: where the store fails, so does the call', async () => {
    const full = { ...store, save: () => Promise.reject(new Error('disk full')) };
    await store.save('main', login({ expiresAt: 0 }));
    await expect(new TokenProvider({ store: full, key: 'main', transport, clock }).token()).rejects.toThrow(
      'disk full',
    );
    expect(refreshes()).toEqual([]); // and the login is not used up
  });

  // The service would take the one in the store for stolen once its grace is over, and end the login.
  test('that the store could not take, as a keychain that locks just then, is stored once it can be, not renewed anew', async () => {
    await store.save('main', login({ expiresAt: 0 }));
    let isLocked = false;
    const locking: TokenStore = {
      ...store,
      async save(key, credentials) {
        if (isLocked) throw new LoginError('keychain_failed', 'It is locked.');
        await store.save(key, credentials);
      },
    };
    server.on('/v1/oauth/token', () => {
      isLocked = refreshes().length === 1;
      return { body: tokens(refreshes().length) };
    });
    const tokenSource = new TokenProvider({ store: locking, key: 'main', transport, clock });
    const failed = { code: 'keychain_failed' };
    await expect(tokenSource.token()).rejects.toMatchObject(failed);
    await expect(tokenSource.token()).rejects.toMatchObject(failed);
    await store.save('main', login({ expiresAt: 0, deviceToken: 'tdt-1' }));
    isLocked = false;
    expect(await tokenSource.token()).toBe(accessToken('at-1'));
    expect(await store.load('main')).toMatchObject({ refreshToken: 'rt-1', deviceToken: 'tdt-1' });
    expect(refreshes()).toEqual(['rt-0']);
    await clock.advance(3_600_000);
    expect(await tokenSource.token()).toBe(accessToken('at-2'));
    expect(refreshes()).toEqual(['rt-0', 'rt-1']);
  });

  test('that the store could not take is forgotten for a newer login', async () => {
    await store.save('main', login({ expiresAt: 0 }));
    let saves = 0;
    const failing: TokenStore = {
      ...store,
      save: (key, credentials) =>
        (saves += 1) === 2 ? Promise.reject(new Error('locked')) : store.save(key, credentials),
    };
    const tokenSource = new TokenProvider({ store: failing, key: 'main', transport, clock });
    await expect(tokenSource.token()).rejects.toThrow('locked');
    await store.save('main', login({ accessToken: 'at-new', refreshToken: 'rt-new', expiresAt: 0 }));
    expect(await tokenSource.token()).toBe(accessToken('at-2'));
    expect(refreshes()).toEqual(['rt-0', 'rt-new']);
  });

  test('still good is given while the service is away', async () => {
    await store.save('main', login({ expiresAt: clock.now() + 20_000 }));
    server.on('/v1/oauth/token', 'reset', 'reset', 'reset', { body: tokens(1) });
    const tokenSource = provider();
    expect(await drive(clock, tokenSource.token())).toBe('at-0');
    expect(await tokenSource.token()).toBe(accessToken('at-1'));
  });

  test('that ran out is not given while the service is away', async () => {
    await store.save('main', login({ expiresAt: clock.now() + 500 }));
    server.on('/v1/oauth/token', 'reset');
    await expect(drive(clock, provider().token())).rejects.toMatchObject({ name: 'TransportError' });
    expect((await store.load('main'))?.refreshToken).toBe('rt-0');
  });
});

describe('one renewal', () => {
  test('serves all who ask meanwhile, in one provider or in several', async () => {
    await store.save('main', login({ expiresAt: 0 }));
    const one = provider();
    const sources = [one, one, one, provider(), provider()];
    const given = await Promise.all(sources.map((tokenSource) => tokenSource.token()));
    expect(new Set(given)).toEqual(new Set([accessToken('at-1')]));
    expect(refreshes()).toEqual(['rt-0']);
  });

  test('takes the lock once, however many ask', async () => {
    await store.save('main', login({ expiresAt: 0 }));
    let locked = 0;
    const counting: TokenStore = {
      ...store,
      withLock: (key, act) => {
        locked += 1;
        return store.withLock(key, act);
      },
    };
    const tokenSource = new TokenProvider({ store: counting, key: 'main', transport, clock });
    await Promise.all(Array.from({ length: 20 }, () => tokenSource.token()));
    expect(locked).toBe(1);
  });

  test('goes on for the others when one of them stops waiting', async () => {
    await store.save('main', login({ expiresAt: 0 }));
    const tokenSource = provider();
    const interrupted = new AbortController();
    const first = tokenSource.token({ signal: interrupted.signal });
    const second = tokenSource.token();
    interrupted.abort();
    await expect(first).rejects.toMatchObject({ name: 'TransportError', code: 'aborted' });
    expect(await second).toBe(accessToken('at-1'));
  });

  test('that fails is tried again by the next who asks', async () => {
    await store.save('main', login({ expiresAt: 0 }));
    server.on('/v1/oauth/token', { status: 400, body: refusal('invalid_scope') }, { body: tokens(1) });
    const tokenSource = provider();
    await expect(tokenSource.token()).rejects.toMatchObject({ name: 'ServiceError', code: 'invalid_scope' });
    expect(await tokenSource.token()).toBe(accessToken('at-1'));
  });
});

describe('a person has to log in again', () => {
  const required = { name: 'LoginError', code: 'login_required' };

  test('where there is no login, and where the service takes the refresh token no more; the login stays', async () => {
    await store.save('main', login({ expiresAt: 0 }));
    server.on('/v1/oauth/token', { status: 400, body: refusal('invalid_grant') });
    const tokenSource = provider();
    await expect(tokenSource.token()).rejects.toMatchObject(required);
    expect(await store.load('main')).toEqual(login({ expiresAt: 0 }));
    await store.remove('main');
    await expect(tokenSource.token()).rejects.toMatchObject(required);
  });

  test('where the login has no refresh token and its access token has run out', async () => {
    const { refreshToken: _, ...short } = login();
    await store.save('main', short);
    const tokenSource = provider();
    expect(await tokenSource.token()).toBe('at-0');
    await clock.advance(3_600_000);
    await expect(tokenSource.token()).rejects.toMatchObject(required);
  });

  test('but not where someone stored a newer login meanwhile, without asking for the lock', async () => {
    await store.save('main', login({ expiresAt: 0 }));
    const newer = login({ accessToken: 'at-new', refreshToken: 'rt-new' });
    server.on('/v1/oauth/token', async () => {
      await store.save('main', newer);
      return { status: 400, body: refusal('invalid_grant') };
    });
    expect(await provider().token()).toBe('at-new');
    expect(await store.load('main')).toEqual(newer);
  });
});

test('calls that were refused at the same time share one renewal and all succeed', async () => {
  server.on('/api/oauth/profile', ({ headers }) =>
    headers.authorization === `Bearer ${accessToken('at-1')}`
      ? { body: { organization: { organization_type: 'agent_team', rate_limit_tier: 'default' } } }
      : { status: 401, body: refusal('invalid_token') },
  );
  const client = createClient({ baseUrl: server.baseUrl, transport, tokens: provider(), clock });
  await Promise.all(Array.from({ length: 8 }, () => client.oauth.profile()));
  expect(refreshes()).toEqual(['rt-0']);
});

describe('a login that has ended', () => {
  const end = async () => {
    const tokenSource = provider();
    server.on('/v1/oauth/token', () => ({ status: 400, body: refusal('invalid_grant') }));
    await clock.advance(3_600_000);
    await expect(tokenSource.token()).rejects.toMatchObject({ code: 'login_required' });
    return tokenSource;
  };

  test('is watched for the next one, without a word to the service', async () => {
    const tokenSource = await end();
    const asked = refreshes().length;
    let isChanged = false;
    const watching = [1, 2].map(() => tokenSource.changed(AbortSignal.timeout(15_000)));
    void Promise.all(watching).then(() => (isChanged = true));
    await clock.advance(60_000);
    await store.save('main', login({ accessToken: 'at-9', expiresAt: clock.now() + 3_600_000 }));
    expect(isChanged).toBe(false);
    expect(await tokenSource.token()).toBe('at-9'); // whoever asks meanwhile does not hide it from the others
    await clock.advance(5_000);
    await Promise.all(watching);
    expect(refreshes()).toHaveLength(asked);
  });

  test('is not watched for longer than wanted', async () => {
    const wanted = new AbortController();
    const watching = (await end()).changed(wanted.signal);
    wanted.abort(new Error('enough'));
    await expect(watching).rejects.toThrow('enough');
  });
});
