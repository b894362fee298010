import { createAuthorizationServer, defaultOAuthConfig } from '@sallyport/oauth/server';
import { describe, expect, test } from 'vitest';
import { clientId, openServer, refusal, type TestServer } from './open-server.ts';

async function login(opened: TestServer) {
  const tokens = await opened.exchange(await opened.code());
  return { access: tokens.access_token, refresh: tokens.refresh_token ?? '' };
}

const next = async (answer: ReturnType<TestServer['refresh']>) => (await answer).refresh_token ?? '';

describe('a refresh', () => {
  test('rotates, and leaves earlier access tokens alone', async () => {
    const opened = await openServer();
    const { access, refresh } = await login(opened);
    const tokens = await opened.refresh(refresh);
    expect(tokens.refresh_token).not.toBe(refresh);
    expect(tokens.access_token).not.toBe(access);
    expect(await refusal(opened.server.accessTokens.verify(access))).toBe(undefined);
  });

  test('the token before, within the grace, gets the same successor', async () => {
    const opened = await openServer();
    const { refresh } = await login(opened);
    const successor = await next(opened.refresh(refresh));
    opened.clock.jump(30_000);
    expect(await next(opened.refresh(refresh))).toBe(successor);
    expect(await refusal(opened.refresh(successor))).toBe(undefined);
  });

  test('in parallel: all get the same successor', async () => {
    const opened = await openServer();
    const { refresh } = await login(opened);
    const answers = await Promise.all(Array.from({ length: 7 }, () => next(opened.refresh(refresh))));
    expect(new Set(answers).size).toBe(1);
  });

  test('a late loser of a race is refused, and the login lives', async () => {
    const opened = await openServer();
    const { refresh } = await login(opened);
    const second = await next(opened.refresh(refresh));
    const third = await next(opened.refresh(second));
    opened.clock.jump(29_000);
    expect(await refusal(opened.refresh(refresh))).toBe('invalid_grant');
    expect(await refusal(opened.refresh(third))).toBe(undefined);
    expect(opened.warnings).toEqual([]);
  });

  test.each([
    ['the token before', 1],
    ['an older one', 3],
  ])('after the grace %s is theft: the login is revoked, access tokens at once', async (_case, rotations) => {
    const opened = await openServer();
    const { access, refresh } = await login(opened);
    let newest = refresh;
    for (let count = 0; count < rotations; count += 1) newest = await next(opened.refresh(newest));
    opened.clock.jump(30_001);
    expect(await refusal(opened.refresh(refresh))).toBe('invalid_grant');
    expect(await refusal(opened.refresh(newest))).toBe('invalid_grant');
    expect(await refusal(opened.server.accessTokens.verify(access))).toBe('invalid_token');
    expect(opened.warnings).toEqual(['a refresh token was replayed: its login is revoked']);
  });

  test('a bad scope does not hide a replay', async () => {
    const opened = await openServer();
    const { refresh } = await login(opened);
    const newest = await next(opened.refresh(refresh));
    opened.clock.jump(30_001);
    expect(await refusal(opened.refresh(refresh, { scope: 'root' }))).toBe('invalid_grant');
    expect(await refusal(opened.refresh(newest))).toBe('invalid_grant');
  });

  test('refreshGraceSeconds 0 is strict, even in the same millisecond', async () => {
    const opened = await openServer({ refreshGraceSeconds: 0 });
    const { refresh } = await login(opened);
    const newest = await next(opened.refresh(refresh));
    expect(await refusal(opened.refresh(refresh))).toBe('invalid_grant');
    expect(await refusal(opened.refresh(newest))).toBe('invalid_grant');
  });

  test("another client's token is not known to it, and stays good", async () => {
    const opened = await openServer();
    const other = await opened.server.clients.add({ name: 'Other', redirectUris: [] });
    const { refresh } = await login(opened);
    expect(await refusal(opened.refresh(refresh, { client_id: other.id }))).toBe('invalid_grant');
    expect(await refusal(opened.refresh(refresh))).toBe(undefined);
  });

  test('a scope narrows one access token; a wider one is refused and costs nothing', async () => {
    const opened = await openServer();
    const { refresh } = await login(opened);
    const narrowed = await opened.refresh(refresh, { scope: 'openid' });
    expect(narrowed.scope).toBe('openid');
    const grant = await opened.server.accessTokens.verify(narrowed.access_token);
    expect(grant.scopes).toEqual(['openid']);
    const full = await opened.refresh(narrowed.refresh_token ?? '');
    expect(full.scope).toBe('openid profile email vendor_api');
    expect(await refusal(opened.refresh(full.refresh_token ?? '', { scope: 'openid root' }))).toBe(
      'invalid_scope',
    );
    const again = await opened.refresh(full.refresh_token ?? '');
    // Of blanks alone it names none, which is no scope at all (RFC 6749 3.3).
    expect((await opened.refresh(again.refresh_token ?? '', { scope: ' ' })).scope).toBe(full.scope);
  });

  test('after too many refusals of a login further ones are 429 wherever they come from; its good token passes', async () => {
    const failures = { ...defaultOAuthConfig.failures, tokens: 2, windowSeconds: 60 };
    const opened = await openServer({ failures });
    const { refresh } = await login(opened);
    const ask = (address: string, scope = '') =>
      opened.server.token(
        { grant_type: 'refresh_token', client_id: clientId, refresh_token: refresh, scope },
        address,
      );
    expect(await refusal(ask('192.0.2.1', 'root'))).toBe('invalid_scope');
    expect(await refusal(ask('192.0.2.2', 'root'))).toBe('invalid_scope');
    await expect(ask('192.0.2.3', 'root')).rejects.toMatchObject({
      code: 'temporarily_unavailable',
      status: 429,
      retryAfterMs: 60_000,
    });
    expect(await refusal(ask('192.0.2.3'))).toBe(undefined);
  });

  test.each([
    ['a forged MAC', (token: string) => token.slice(0, -2) + (token.endsWith('AA') ? 'BB' : 'AA')],
    ['another generation', (token: string) => token.replace('.1.', '.2.')],
    ['no refresh token at all', () => 'nonsense'],
  ])('refuses %s and changes nothing', async (_case, forge) => {
    const opened = await openServer();
    const { refresh } = await login(opened);
    expect(await refusal(opened.refresh(forge(refresh)))).toBe('invalid_grant');
    expect(await refusal(opened.refresh(refresh))).toBe(undefined);
  });

  test('expires unused after 30 days, and after 90 in any case', async () => {
    const day = 24 * 3600_000;
    const opened = await openServer();
    const idle = await login(opened);
    let busy = (await login(opened)).refresh;
    for (const days of [29, 29, 29]) {
      opened.clock.jump(days * day);
      busy = await next(opened.refresh(busy));
    }
    expect(await refusal(opened.refresh(idle.refresh))).toBe('invalid_grant');
    opened.clock.jump(3 * day);
    expect(await refusal(opened.refresh(busy))).toBe('invalid_grant');
  });

  test('ends with the membership', async () => {
    const opened = await openServer();
    const { access, refresh } = await login(opened);
    opened.store.db.exec('DELETE FROM membership');
    expect(await refusal(opened.server.accessTokens.verify(access))).toBe('invalid_token');
    expect(await refusal(opened.refresh(refresh))).toBe('invalid_grant');
  });

  test('a restart changes nothing', async () => {
    const opened = await openServer();
    const { access, refresh } = await login(opened);
    const successor = await next(opened.refresh(refresh));
    const { clock, store, server } = opened;
    const again = await createAuthorizationServer({ store, clock, issuer: server.issuer });
    expect(again.isNew).toBe(false);
    expect(await refusal(again.accessTokens.verify(access))).toBe(undefined);
    const body = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refresh };
    expect((await again.token(body, '')).refresh_token).toBe(successor);
  });
});
