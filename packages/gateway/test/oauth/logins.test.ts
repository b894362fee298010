import { describe, expect, test } from 'vitest';
import { clientId, openServer, refusal } from './open-server.ts';

const laptop = { address: '192.0.2.7', userAgent: 'Browser/1' };

async function openForTwo() {
  const opened = await openServer({ refreshIdleSeconds: 7200 });
  const { server } = opened;
  const ann = await server.accounts.add({ email: 'ann@example.com', role: 'admin' });
  const mine = { accountId: opened.owner.accountId, organizationId: opened.organizationId };
  const tokens = await opened.exchange(await opened.code());
  const verify = () => refusal(server.accessTokens.verify(tokens.access_token));
  const logins = () => server.logins.list(mine);
  return { ...opened, ann, mine, tokens, verify, logins };
}

describe('sessions', () => {
  test('are listed newest first with where they began and when they were last used, without their keys', async () => {
    const { server, clock, owner } = await openServer();
    await clock.advance(1000);
    const { sessionKey, sessionId } = await server.sessions.issue(owner.accountId, {
      ...laptop,
      userAgent: 'x'.repeat(5000),
    });
    const begun = clock.now();
    const [newest, oldest, ...more] = await server.sessions.list(owner.accountId);
    expect(newest).toEqual({
      id: sessionId,
      accountId: owner.accountId,
      address: laptop.address,
      userAgent: 'x'.repeat(512),
      createdAt: begun,
      lastUsedAt: null,
      expiresAt: begun + 30 * 24 * 3600_000,
    });
    expect(oldest).toMatchObject({ id: owner.sessionId, address: null, userAgent: null });
    expect(more).toEqual([]);

    const used = async () => (await server.sessions.list(owner.accountId))[0]?.lastUsedAt;
    for (const [passed, expected] of [
      [5000, 5000],
      [59_000, 5000],
      [1000, 65_000],
    ] as const) {
      await clock.advance(passed);
      await server.sessions.authenticate(sessionKey);
      await expect.poll(used).toBe(begun + expected);
    }
  });

  test('end one by one, or all but one; those of others stay', async () => {
    const { server, owner, sessionKey, ann } = await openForTwo();
    const [one, two] = [
      await server.sessions.issue(owner.accountId, laptop),
      await server.sessions.issue(owner.accountId, laptop),
    ];
    const hers = await server.sessions.issue(ann.id, laptop);
    const stands = async (key: string) => (await refusal(server.sessions.authenticate(key))) === undefined;

    expect(await server.sessions.end({ accountId: ann.id, sessionId: one.sessionId })).toBe(false);
    expect(await stands(one.sessionKey)).toBe(true);
    expect(await server.sessions.end(one)).toBe(true);
    expect(await server.sessions.end(one)).toBe(false);
    expect([await stands(one.sessionKey), await stands(two.sessionKey)]).toEqual([false, true]);

    expect(await server.sessions.endOthers(owner)).toBe(1);
    expect(await stands(two.sessionKey)).toBe(false);
    expect([await stands(sessionKey), await stands(hers.sessionKey)]).toEqual([true, true]);
    expect(await server.sessions.list(owner.accountId)).toHaveLength(1);
  });

  test('that have expired are not listed', async () => {
    const { server, clock, owner } = await openServer({ sessionSeconds: 60 });
    await clock.advance(60_000);
    expect(await server.sessions.list(owner.accountId)).toEqual([]);
  });
});

describe('logins', () => {
  test('are listed newest first with their client, where they began and when they were renewed', async () => {
    const opened = await openForTwo();
    const { server, clock, owner, organizationId, logins, tokens } = opened;
    const begun = clock.now();
    await clock.advance(1000);
    const device = await server.deviceFlow.start({ client_id: clientId, scope: 'profile' }, '198.51.100.9');
    const decision = { approve: true, organizationId };
    await server.deviceFlow.decide(device.user_code, owner, '192.0.2.1', decision);
    await opened.poll(device.device_code);
    await clock.advance(1000);
    await opened.refresh(tokens.refresh_token ?? '');

    const shared = {
      accountId: owner.accountId,
      organizationId,
      client: { id: clientId, name: 'Sallyport CLI' },
    };
    const [newest, oldest, ...more] = await logins();
    expect(newest).toEqual({
      ...shared,
      id: newest?.id,
      scope: 'profile',
      address: '198.51.100.9',
      createdAt: begun + 1000,
      refreshedAt: null,
      expiresAt: begun + 1000 + 7200_000,
    });
    expect(oldest).toEqual({
      ...shared,
      id: oldest?.id,
      scope: 'openid profile email vendor_api',
      address: '127.0.0.1',
      createdAt: begun,
      refreshedAt: begun + 2000,
      expiresAt: begun + 2000 + 7200_000,
    });
    expect(more).toEqual([]);
  });

  test('end with all their tokens, and nobody else ends them', async () => {
    const { server, mine, ann, logins, verify, refresh, tokens } = await openForTwo();
    const [login] = await logins();
    const id = login?.id ?? '';
    let told = 0;
    server.grants.watch(id, { revoked: () => void (told += 1) });
    expect(await refusal(server.logins.revoke(id, { ...mine, accountId: ann.id }))).toBe('not_found');
    const elsewhere = { ...mine, organizationId: (await server.organizations.add({ name: 'Other' })).id };
    expect([await refusal(server.logins.revoke(id, elsewhere)), await server.logins.list(elsewhere)]).toEqual(
      ['not_found', []],
    );
    expect(await refusal(server.logins.revoke('none', mine))).toBe('not_found');
    expect([await verify(), await logins()]).toEqual([undefined, [login]]);

    await server.logins.revoke(id, mine);
    expect([await verify(), await logins()]).toEqual(['invalid_token', []]);
    expect(await refusal(refresh(tokens.refresh_token ?? ''))).toBe('invalid_grant');
    await expect.poll(() => told).toBe(1);
    // Twice is no error: the page may have been open in two windows.
    await server.logins.revoke(id, mine);
  });

  test('are listed for as long as one of their tokens may count', async () => {
    const { server, mine, clock, logins, refresh, tokens } = await openForTwo();
    const seenByAdmins = async () =>
      (await server.oversight.logins(mine.organizationId, { limit: 9 })).items.map(({ id }) => id);
    clock.jump(7199_000);
    const { refresh_token: next } = await refresh(tokens.refresh_token ?? '');
    clock.jump(7200_000);
    expect(await refusal(refresh(next ?? ''))).toBe('invalid_grant');
    const [login] = await logins();
    expect(login).toBeDefined();
    expect(await seenByAdmins()).toEqual([login?.id]);
    clock.jump(3600_000);
    expect([await logins(), await seenByAdmins()]).toEqual([[], []]);
  });

  test('of an organization that the account has left are not listed, and do not come back with it', async () => {
    const { server, owner, organizationId, logins, refresh, tokens } = await openForTwo();
    const mine = { accountId: owner.accountId, organizationId };
    const isApiKey = false;
    const key = await server.apiKeys.create({ ...mine, scopes: ['vendor_api'], isApiKey }, {});
    await server.members.leave(owner.accountId, organizationId);
    expect(await logins()).toEqual([]);
    await server.members.setRole(owner.accountId, organizationId, 'member');
    expect(await logins()).toEqual([]);
    expect(await refusal(refresh(tokens.refresh_token ?? ''))).toBe('invalid_grant');
    expect(await refusal(server.apiKeys.verify(key))).toBe('invalid_token');
  });
});
