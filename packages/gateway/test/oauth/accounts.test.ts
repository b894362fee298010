import type { OAuthStore } from '@sallyport/oauth/server';
import { describe, expect, test } from 'vitest';
import { cheapPasswords, openServer, refusal } from './open-server.ts';
import { openMemoryStore } from './open-store.ts';

const password = 'correct horse battery';
const here = { address: '192.0.2.1', userAgent: null };

describe('accounts', () => {
  test('the first start makes an organization with its owner; the next one does not', async () => {
    const { server } = await openServer();
    expect(server.isNew).toBe(true);
    const owner = await server.accounts.find();
    expect(owner).toMatchObject({ email: 'owner@localhost', hasPassword: false });
    const [membership] = await server.organizations.of(owner.id);
    expect(membership).toMatchObject({
      role: 'admin',
      organization: { type: 'agent_team', rateLimitTier: 'default', capabilities: ['agent_code'] },
    });
  });

  test('are added to an organization with a role, once per e-mail address', async () => {
    const { server, organizationId } = await openServer();
    const added = await server.accounts.add({ email: 'Ann@Example.com', role: 'viewer', password });
    expect(added).toMatchObject({ email: 'ann@example.com', hasPassword: true });
    expect(await server.organizations.of(added.id)).toMatchObject([
      { role: 'viewer', organization: { id: organizationId } },
    ]);
    expect(await refusal(server.accounts.add({ email: 'ann@example.COM' }))).toBe('conflict');
    expect(await refusal(server.accounts.add({ email: 'no address' }))).toBe('invalid_request');
    expect(await refusal(server.accounts.add({ email: 'a@b', organizationId: 'none' }))).toBe('not_found');
    expect(await refusal(server.accounts.add({ email: 'a@b', password: 'short' }))).toBe('invalid_request');
    expect((await server.accounts.signIn('ann@example.com', password, here)).accountId).toBe(added.id);
  });

  test.each([
    'a b@c',
    'a\0b@c',
    'a\u001b[2J@c',
    'a\u202eb@c',
    'a\u200bb@c',
    'a\ud800@c',
    'a@b\u007f',
    'a@b@c',
  ])('are not added by what looks like another address, or steers a terminal: %j', async (email) => {
    const { server } = await openServer();
    expect(await refusal(server.accounts.add({ email }))).toBe('invalid_request');
    expect((await server.accounts.add({ email: 'j\u00f6rg@\u4f8b.example' })).email).toBe(
      'j\u00f6rg@\u4f8b.example',
    );
  });

  test('nobody signs in without a password', async () => {
    const { server } = await openServer();
    await expect(server.accounts.signIn('owner@localhost', '', here)).rejects.toMatchObject({
      code: 'access_denied',
      status: 401,
    });
  });

  test('a new password ends the sessions', async () => {
    const { server, owner, sessionKey } = await openServer();
    expect(await server.sessions.authenticate(sessionKey)).toEqual(owner);
    await server.accounts.setPassword(owner.accountId, password);
    expect(await refusal(server.sessions.authenticate(sessionKey))).toBe('invalid_token');
  });

  test('a new password ends the link to set one', async () => {
    const { server, owner } = await openServer();
    const link = (await server.accounts.setupLink(owner.accountId)).url;
    await server.accounts.setPassword(owner.accountId, password);
    expect(await server.accounts.setupAccount(link.split('=')[1] ?? '')).toBe(undefined);
  });

  test('a password that is replaced while it is tried begins nothing', async () => {
    const store = openMemoryStore();
    const { server, owner } = await openServer({}, { store: withMeanwhile(store) });
    const { accounts } = server;
    await accounts.setPassword(owner.accountId, password);
    const replace = (next: string) => () => accounts.setPassword(owner.accountId, next);

    meanwhile = replace('set by the owner');
    expect(await refusal(accounts.signIn('owner@localhost', password, here))).toBe('access_denied');
    meanwhile = replace('set once more');
    const taken = { current: 'set by the owner', next: 'taken by another' };
    expect(await refusal(accounts.changePassword(owner.accountId, taken, here))).toBe('access_denied');

    expect(await server.sessions.list(owner.accountId)).toEqual([]);
    expect(await refusal(accounts.signIn('owner@localhost', 'set once more', here))).toBe(undefined);
  });

  test('a session ends after 30 days', async () => {
    const { server, clock, sessionKey } = await openServer();
    clock.jump(30 * 24 * 3600_000 - 1);
    expect(await refusal(server.sessions.authenticate(sessionKey))).toBe(undefined);
    clock.jump(1);
    expect(await refusal(server.sessions.authenticate(sessionKey))).toBe('invalid_token');
  });

  test('of tries in parallel no more get through than of tries in turn', async () => {
    const { server, owner } = await openServer();
    await server.accounts.setPassword(owner.accountId, password);
    const tries = Array.from({ length: 25 }, () =>
      refusal(server.accounts.signIn('owner@localhost', 'wrong', here)),
    );
    const codes = await Promise.all(tries);
    expect(codes.filter((code) => code === 'access_denied')).toHaveLength(10);
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(15);
    expect(
      await refusal(server.accounts.signIn('owner@localhost', password, { ...here, address: '192.0.2.2' })),
    ).toBe(undefined);
  });

  test('tries from any address of one IPv6 network count as one guesser’s', async () => {
    const { server, owner } = await openServer();
    await server.accounts.setPassword(owner.accountId, 'correct horse battery');
    const tryAt = (address: string, password = 'wrong') =>
      refusal(server.accounts.signIn('owner@localhost', password, { address, userAgent: null }));
    for (let count = 0; count < 10; count += 1) await tryAt(`2001:db8::${count}`);
    expect(await tryAt('2001:db8::ffff', 'correct horse battery')).toBe('rate_limited');
    expect(await tryAt('2001:db8:0:1::1', 'correct horse battery')).toBe(undefined);
  });

  test('no secret is in the store as it was given out', async () => {
    const opened = await openServer();
    const { server, owner, organizationId, store, sessionKey } = opened;
    const secrets = [sessionKey, password];
    await server.accounts.setPassword(owner.accountId, password);
    const { sessionKey: next, ...signedIn } = await server.sessions.issue(owner.accountId);
    const link = (await server.accounts.setupLink(owner.accountId)).url;
    const device = await server.trustedDevices.trust(
      { accountId: owner.accountId, organizationId },
      'laptop',
    );
    const started = await server.deviceFlow.start(
      { client_id: (await server.clients.get(firstParty))?.id },
      '',
    );
    await server.deviceFlow.decide(started.user_code, signedIn, '', { approve: true, organizationId });
    const tokens = await opened.poll(started.device_code);
    secrets.push(next, link.split('=')[1] ?? '', device, started.device_code, tokens.access_token);
    secrets.push(tokens.refresh_token ?? '');
    const tables = store.db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    const everything = tables
      .map(({ name }) => JSON.stringify(store.db.prepare(`SELECT * FROM ${String(name)}`).all()))
      .join('\n');
    expect(everything).toContain('owner@localhost');
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(8);
      expect(everything).not.toContain(secret);
    }
  });
});

/** Runs once, after a password was found right and before what it is to begin is stored. */
let meanwhile: (() => Promise<void>) | undefined;

function withMeanwhile({ reads, acts }: OAuthStore): OAuthStore {
  const after =
    <Argument, Answer>(act: (argument: Argument) => Promise<Answer>) =>
    async (argument: Argument) => {
      const first = meanwhile;
      meanwhile = undefined;
      await first?.();
      return act(argument);
    };
  return {
    reads,
    acts: { ...acts, addSession: after(acts.addSession), setPassword: after(acts.setPassword) },
  };
}

const firstParty = '5a117f0a-0c11-4e47-8a00-000000000001';

describe('trusted devices', () => {
  test('unknown and revoked ones prove nothing; those of others are forbidden', async () => {
    const { server, owner, organizationId, clock } = await openServer();
    const { trustedDevices } = server;
    const mine = { accountId: owner.accountId, organizationId };
    const token = await trustedDevices.trust(mine, '  laptop ');
    const { deviceId } = await trustedDevices.check(token, mine);
    expect(await trustedDevices.list(mine)).toMatchObject([
      { id: deviceId, displayName: 'laptop', lastUsedAt: clock.now() },
    ]);
    const ann = await server.accounts.add({ email: 'ann@example.com' });
    const other = await server.organizations.add({ name: 'Other' });
    expect(await refusal(trustedDevices.check('spt_unknown', mine))).toBe('invalid_token');
    expect(await refusal(trustedDevices.check(token, { ...mine, accountId: ann.id }))).toBe('forbidden');
    expect(await refusal(trustedDevices.check(token, { ...mine, organizationId: other.id }))).toBe(
      'forbidden',
    );
    expect(await refusal(trustedDevices.revoke(deviceId, { ...mine, accountId: ann.id }))).toBe('not_found');
    const elsewhere = { ...mine, organizationId: other.id };
    expect(await trustedDevices.list(elsewhere)).toEqual([]);
    expect(await refusal(trustedDevices.revoke(deviceId, elsewhere))).toBe('not_found');
    await trustedDevices.revoke(deviceId, mine);
    expect(await refusal(trustedDevices.check(token, mine))).toBe('device_revoked');
    expect(await trustedDevices.list(mine)).toEqual([]);
  });

  test.each([[''], ['   '], ['a\nb'], ['x'.repeat(129)]])('the name %j is refused', async (name) => {
    const { server, owner, organizationId } = await openServer();
    const trust = server.trustedDevices.trust({ ...owner, organizationId }, name);
    expect(await refusal(trust)).toBe('invalid_request');
  });
});

describe('bootstrap', () => {
  test('without a credential tells of the owner in single-user mode only', async () => {
    const many = await openServer();
    expect((await many.server.profiles.bootstrap(undefined)).account.uuid).toMatch(/^0{8}-/);
    const single = await openServer({ singleUser: true, password: cheapPasswords });
    await single.server.accounts.add({ email: 'ann@example.com' });
    const { account } = await single.server.profiles.bootstrap(undefined);
    expect(account.uuid).toBe(single.owner.accountId);
    expect(account.memberships).toHaveLength(1);
  });
});

describe('a sweep', () => {
  test('deletes what is dead, however much, and nothing else', async () => {
    const opened = await openServer();
    const { server, clock, store } = opened;
    for (let count = 0; count < 3; count += 1) await opened.code();
    const add = store.db.prepare('INSERT INTO oauth_revoked_token (jti, expires_at) VALUES (?, ?)');
    for (let count = 0; count < 1200; count += 1) add.run(`old${count}`, clock.now() + 60_000);
    add.run('young', clock.now() + 7200_000);
    clock.jump(3600_000 + 60_000);
    await server.sweep();
    const count = (table: string) => store.db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'];
    expect([count('oauth_code'), count('oauth_revoked_token'), count('account_session')]).toEqual([0, 1, 1]);
  });
});
