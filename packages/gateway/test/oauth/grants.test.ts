import { createAuthorizationServer } from '@sallyport/oauth/server';
import { describe, expect, test } from 'vitest';
import { clientId, issuer, openServer, refusal } from './open-server.ts';

async function open() {
  const opened = await openServer();
  const { server, owner, organizationId } = opened;
  const mine = { accountId: owner.accountId, organizationId };
  const tokens = await opened.exchange(await opened.code());
  const { familyId } = await server.accessTokens.verify(tokens.access_token);
  const key = await server.apiKeys.create({ ...mine, scopes: ['vendor_api'], isApiKey: false }, {});
  const { keyId } = await server.apiKeys.verify(key);
  const deviceToken = await server.trustedDevices.trust(mine, 'laptop');
  const { deviceId } = await server.trustedDevices.check(deviceToken, mine);
  // Somebody else to administer the organization, so that the owner can go.
  await server.accounts.add({ email: 'ann@example.com', role: 'admin' });
  const ended: string[] = [];
  for (const [name, id] of Object.entries({ login: familyId, key: keyId, device: deviceId }))
    server.grants.watch(id, { revoked: () => void ended.push(name) });
  return { ...opened, mine, tokens, familyId, keyId, deviceId, ended };
}

type Opened = Awaited<ReturnType<typeof open>>;

describe('a watched grant', () => {
  test.each<[string, string[], (opened: Opened) => Promise<unknown>]>([
    [
      'a revoked refresh token',
      ['login'],
      ({ server, tokens }) => server.revoke({ client_id: clientId, token: tokens.refresh_token }),
    ],
    [
      'a replayed refresh token',
      ['login'],
      async ({ refresh, clock, tokens }) => {
        await refresh(tokens.refresh_token ?? '');
        clock.jump(31_000);
        expect(await refusal(refresh(tokens.refresh_token ?? ''))).toBe('invalid_grant');
      },
    ],
    ['a revoked key', ['key'], ({ server, keyId, mine }) => server.apiKeys.revoke(keyId, mine)],
    [
      'a revoked device',
      ['device'],
      ({ server, deviceId, mine }) => server.trustedDevices.revoke(deviceId, mine),
    ],
    [
      "an admin's end of a device",
      ['device'],
      ({ server, deviceId, mine }) => server.oversight.revokeDevice(mine.organizationId, deviceId),
    ],
    [
      'the end of the membership',
      ['login', 'key', 'device'],
      ({ server, mine }) => server.members.leave(mine.accountId, mine.organizationId),
    ],
    [
      'the end of the account',
      ['login', 'key', 'device'],
      ({ server, mine }) => server.members.remove(mine.accountId),
    ],
  ])('is told of %s at once', async (_case, expected, act) => {
    const opened = await open();
    await act(opened);
    await expect.poll(() => opened.ended).toEqual(expected);
    await opened.clock.advance(10_000);
    expect(opened.ended).toEqual(expected);
  });

  test('is told of what came between the look at it and the watch', async () => {
    const { server, mine, deviceId } = await open();
    const { grants } = server;
    const since = grants.changes;
    expect(await grants.stands(deviceId)).toBe(true);
    await server.trustedDevices.revoke(deviceId, mine);
    await expect.poll(() => grants.changes).toBeGreaterThan(since);
    const told: string[] = [];
    grants.watch(deviceId, { revoked: () => void told.push('since') }, since);
    grants.watch(deviceId, { revoked: () => void told.push('unknown') });
    await expect.poll(() => told).toEqual(['since', 'unknown']);
  });

  test('is told of a lowered role where it needs more than is left, and there alone', async () => {
    const { server, mine, familyId, ended } = await open();
    for (const permission of ['read', 'write', 'manage_projects'])
      server.grants.watch(familyId, { permission, revoked: () => void ended.push(permission) });
    await server.members.changeRole(mine.accountId, mine.organizationId, 'member');
    await expect.poll(() => ended).toEqual(['manage_projects']);
    expect(await server.grants.stands(familyId, 'write')).toBe(true);
    await server.members.setRole(mine.accountId, mine.organizationId, 'viewer');
    await expect.poll(() => ended).toEqual(['manage_projects', 'write']);
    expect(await server.grants.stands(familyId, 'write')).toBe(false);
    expect(await server.grants.stands(familyId)).toBe(true);
    await server.members.leave(mine.accountId, mine.organizationId);
    await expect.poll(() => ended).toEqual(['manage_projects', 'write', 'login', 'read', 'key', 'device']);
  });

  test('is told at once of a revoked access token where it came with that one, and there alone (RFC 7009)', async () => {
    const { server, tokens, familyId, refresh, clock, ended } = await open();
    const [first, second] = [tokens, await refresh(tokens.refresh_token ?? '')];
    for (const [name, { access_token: token }] of Object.entries({ first, second })) {
      const { tokenId } = await server.accessTokens.verify(token);
      server.grants.watch(familyId, { tokenId, revoked: () => void ended.push(name) });
    }
    await server.revoke({ client_id: clientId, token: first.access_token });
    await expect.poll(() => ended).toEqual(['first']);
    await clock.advance(10_000);
    expect(ended).toEqual(['first']);
    await server.revoke({ client_id: clientId, token: second.refresh_token });
    await expect.poll(() => ended).toEqual(['first', 'login', 'second']);
  });

  test.each([
    ['nobody has renewed for 30 days', { refreshIdleSeconds: 30 * 24 * 3600 }],
    ['is 90 days old', { refreshIdleSeconds: 1e9 }],
  ])(
    'is told of the end of a login that %s, once its last access token has expired',
    async (_case, config) => {
      const { server, clock, code, exchange } = await openServer(config);
      const { access_token: token } = await exchange(await code());
      const { familyId } = await server.accessTokens.verify(token);
      let told = 0;
      server.grants.watch(familyId, { revoked: () => void (told += 1) });
      clock.jump((config.refreshIdleSeconds === 1e9 ? 90 : 30) * 24 * 3600_000 + 3600_000 - 1);
      expect(await server.grants.stands(familyId)).toBe(true);
      await clock.advance(2000);
      await expect.poll(() => told).toBe(1);
      expect(await server.grants.stands(familyId)).toBe(false);
    },
  );

  test('is told of a replayed code', async () => {
    const opened = await openServer();
    const code = await opened.code();
    const { access_token: token } = await opened.exchange(code);
    const { familyId } = await opened.server.accessTokens.verify(token);
    let told = 0;
    opened.server.grants.watch(familyId, { revoked: () => void (told += 1) });
    expect(await refusal(opened.exchange(code))).toBe('invalid_grant');
    await expect.poll(() => told).toBe(1);
  });

  test('is told within two seconds of what another process did, and of a key that has expired', async () => {
    const opened = await open();
    const { server, clock, store, mine } = opened;
    const brief = await server.apiKeys.create(
      { ...mine, scopes: ['vendor_api'], isApiKey: false },
      { expiresInSeconds: 3 },
    );
    const { keyId } = await server.apiKeys.verify(brief);
    server.grants.watch(keyId, { revoked: () => void opened.ended.push('brief') });
    await clock.advance(4000);
    await expect.poll(() => opened.ended).toEqual(['brief']);
    const admin = await createAuthorizationServer({ store, clock, issuer });
    await admin.members.leave(mine.accountId, mine.organizationId);
    await clock.advance(2000);
    await expect.poll(() => opened.ended).toEqual(['brief', 'login', 'key', 'device']);
  });

  test('is asked for no more once nobody watches', async () => {
    const { server, store, clock } = await openServer();
    let reads = 0;
    const read = store.reads.standingGrants.bind(store.reads);
    store.reads.standingGrants = (argument) => {
      reads += 1;
      return read(argument);
    };
    const listener = { revoked: () => undefined };
    server.grants.watch('none', listener, server.grants.changes);
    server.grants.unwatch('none', listener);
    await clock.advance(60_000);
    expect(reads).toBe(0);
  });

  test('survives a store that does not answer', async () => {
    const opened = await open();
    const { store, server, mine, clock, keyId, warnings } = opened;
    const read = store.reads.standingGrants.bind(store.reads);
    store.reads.standingGrants = () => Promise.reject(new Error('away'));
    await server.apiKeys.revoke(keyId, mine);
    await expect.poll(() => warnings).toContain('Open streams could not be checked.');
    store.reads.standingGrants = read;
    await clock.advance(2000);
    await expect.poll(() => opened.ended).toEqual(['key']);
  });

  test('of which there are many are all looked at', async () => {
    const opened = await openServer();
    const { server, store, clock, owner, organizationId } = opened;
    const insert = store.db.prepare(
      `INSERT INTO api_key (id, hash, account_id, organization_id, scope, created_at) VALUES (?, ?, ?, ?, 'x', 0)`,
    );
    const ended: string[] = [];
    for (let index = 0; index < 1200; index += 1) {
      insert.run(`k${index}`, `h${index}`, owner.accountId, organizationId);
      server.grants.watch(`k${index}`, { revoked: () => void ended.push(`k${index}`) });
    }
    store.db.exec("DELETE FROM api_key WHERE id IN ('k0', 'k700', 'k1199')");
    await clock.advance(2000);
    await expect.poll(() => ended).toEqual(['k0', 'k700', 'k1199']);
  });
});
