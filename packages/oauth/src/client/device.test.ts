import { undiciTransport } from '@sallyport/core/client';
import { ManualClock } from '@sallyport/core/testing';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { drive } from '../../test/drive.ts';
import {
  accessToken,
  refusal,
  startScriptedServer,
  tokens,
  type Scripted,
  type ScriptedServer,
} from '../../test/scripted-server.ts';
import { loginWithDevice, type DeviceLogin, type DevicePrompt } from './device.ts';

const transport = undiciTransport();
afterAll(() => transport.close());

let clock: ManualClock;
let server: ScriptedServer;
beforeEach(async () => {
  clock = new ManualClock();
  server = await startScriptedServer(() => clock.now());
  server.on('/v1/oauth/device_authorization', { body: authorization });
});
afterEach(() => server.close());

const authorization = {
  device_code: 'dc-1',
  user_code: 'BCDF-GHJK',
  verification_uri: 'http://127.0.0.1/device',
  verification_uri_complete: 'http://127.0.0.1/device?user_code=BCDF-GHJK',
  expires_in: 900,
  interval: 5,
};
const pending: Scripted = { status: 400, body: refusal('authorization_pending') };
const approved: Scripted = { body: tokens(1) };

/** Logs in against that script of polls; `polls` are the seconds between the start and each of them. */
async function logIn(script: [Scripted, ...Scripted[]], more: Partial<DeviceLogin> = {}) {
  server.on('/v1/oauth/token', ...script);
  const prompts: DevicePrompt[] = [];
  const start = clock.now();
  const [outcome] = await Promise.allSettled([
    drive(
      clock,
      loginWithDevice({
        baseUrl: server.baseUrl,
        transport,
        clock,
        onPrompt: (prompt) => void prompts.push(prompt),
        ...more,
      }),
    ),
  ]);
  return { outcome, prompts, polls: server.to('/v1/oauth/token').map(({ at }) => (at - start) / 1000) };
}

test('shows the code, polls at the interval, and gives the login', async () => {
  const start = clock.now();
  const { outcome, prompts, polls } = await logIn([pending, pending, approved], { clientId: 'client-1' });
  expect(outcome).toMatchObject({
    status: 'fulfilled',
    value: {
      accessToken: accessToken('at-1'),
      refreshToken: 'rt-1',
      organizationId: 'org-1',
      accountId: 'account-1',
    },
  });
  const { user_code, verification_uri, verification_uri_complete } = authorization;
  expect(prompts).toEqual([
    { user_code, verification_uri, verification_uri_complete, expiresAt: start + 900_000 },
  ]);
  expect(polls).toEqual([5, 10, 15]);
  expect(server.to('/v1/oauth/device_authorization')[0]?.body).toEqual({
    client_id: 'client-1',
    scope: 'openid profile email vendor_api',
  });
  expect(server.to('/v1/oauth/token')[0]?.body).toEqual({
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    client_id: 'client-1',
    device_code: 'dc-1',
  });
});

test('waits 5 seconds where the server names no interval', async () => {
  const { interval: _, ...silent } = authorization;
  server.on('/v1/oauth/device_authorization', { body: silent });
  expect((await logIn([pending, approved])).polls).toEqual([5, 10]);
});

test('takes its organization from the bootstrap document where the token does not tell it', async () => {
  server.on('/api/bootstrap', ({ headers }) => {
    expect(headers.authorization).toBe('Bearer opaque');
    return {
      body: { account: { uuid: 'a', memberships: [{ organization: { uuid: 'org-9', capabilities: [] } }] } },
    };
  });
  const { outcome } = await logIn([{ body: { ...tokens(1), access_token: 'opaque' } }]);
  expect(outcome).toMatchObject({ value: { organizationId: 'org-9' } });
});

describe('the pace', () => {
  test('of a slow_down holds for every later poll, and adds up', async () => {
    const slow: Scripted = { status: 400, body: refusal('slow_down') };
    expect((await logIn([slow, pending, slow, pending, approved])).polls).toEqual([5, 15, 25, 40, 55]);
  });

  test('is the one that a slow_down names, if that is slower', async () => {
    const named: Scripted = { status: 400, body: refusal('slow_down', { interval: 20 }) };
    expect((await logIn([named, pending, approved])).polls).toEqual([5, 25, 45]);
  });

  test('follows Retry-After of a 429 once, whatever its code', async () => {
    const limited: Scripted = {
      status: 429,
      headers: { 'retry-after': '30' },
      body: refusal('temporarily_unavailable'),
    };
    expect((await logIn([limited, pending, approved])).polls).toEqual([5, 35, 40]);
  });

  test('of a 429 that says slow_down is slower for good', async () => {
    const limited: Scripted = { status: 429, headers: { 'retry-after': '30' }, body: refusal('slow_down') };
    expect((await logIn([limited, pending, approved])).polls).toEqual([5, 35, 45]);
  });

  test('slackens while the server is away, and is the old one when it is back', async () => {
    const away: Scripted = { status: 503, body: 'no healthy upstream' };
    const { outcome, polls } = await logIn(['reset', 'reset', away, pending, approved]);
    expect(outcome.status).toBe('fulfilled');
    expect(polls).toEqual([5, 15, 35, 75, 80]);
  });

  test('is never slower than a minute for that', async () => {
    const { polls } = await logIn(['reset', 'reset', 'reset', 'reset', 'reset', 'reset', approved]);
    expect(polls.map((at, i) => at - (polls[i - 1] ?? 0))).toEqual([5, 10, 20, 40, 60, 60, 60]);
  });
});

describe('the end', () => {
  test.each([
    ['access_denied', 'denied'],
    ['expired_token', 'expired'],
    ['invalid_grant', 'invalid_grant'],
    ['invalid_client', 'invalid_client'],
  ])('%s of the server is final', async (error, code) => {
    const { outcome, polls } = await logIn([pending, { status: 400, body: refusal(error) }]);
    expect(outcome).toMatchObject({ reason: { code } });
    expect(polls).toEqual([5, 10]);
  });

  test('comes by the clock where the server never answers', async () => {
    server.on('/v1/oauth/device_authorization', { body: { ...authorization, expires_in: 12 } });
    const { outcome, polls } = await logIn(['reset']);
    expect(outcome).toMatchObject({ reason: { name: 'LoginError', code: 'expired' } });
    expect(polls).toEqual([5, 12]);
  });

  test.each([
    ['gives up if that is still pending', pending, { reason: { code: 'expired' } }],
    ['takes what was approved at the last moment', approved, { value: { refreshToken: 'rt-1' } }],
  ])(
    'is not before one more poll when the machine slept past the expiry, and %s',
    async (_, last, ending) => {
      const { outcome, polls } = await logIn([last, 'reset'], { onPrompt: () => clock.jump(3_600_000) });
      expect(outcome).toMatchObject(ending);
      expect(polls).toEqual([3605]);
    },
  );

  test('comes at once with Ctrl-C, while it waits and while it polls', async () => {
    for (const when of ['waiting', 'polling']) {
      const interrupted = new AbortController();
      const onPrompt = () => {
        if (when === 'waiting') setImmediate(() => interrupted.abort());
      };
      const hang: Scripted = () => {
        interrupted.abort();
        return new Promise(() => undefined);
      };
      const { outcome } = await logIn([hang], { signal: interrupted.signal, onPrompt });
      expect(outcome).toMatchObject({ reason: { name: 'LoginError', code: 'aborted' } });
      expect(clock.timers).toBe(0);
    }
  });

  test('comes before the start where the server has no device flow, or names an address that no browser should open', async () => {
    server.on('/v1/oauth/device_authorization', {
      body: { ...authorization, verification_uri_complete: 'file:///etc/passwd' },
    });
    expect((await logIn([pending])).outcome).toMatchObject({ reason: { code: 'unexpected_answer' } });
    const { device_authorization_endpoint: _, ...metadata } = server.metadata;
    server.on('/.well-known/oauth-authorization-server', { body: metadata });
    const { outcome, prompts } = await logIn([pending]);
    expect(outcome).toMatchObject({ reason: { code: 'unsupported' } });
    expect(prompts).toEqual([]);
  });
});
