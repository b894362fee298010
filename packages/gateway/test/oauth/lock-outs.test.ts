import { defaultOAuthConfig, type OAuthConfig } from '@sallyport/oauth/server';
import { describe, expect, test } from 'vitest';
import { openAdminWorld } from './admin-world.ts';
import { openServer, refusal, type TestServer } from './open-server.ts';

const password = 'correct horse battery';
const [home, office] = ['192.0.2.1', '192.0.2.2'];
/** So many wrong passwords of an account lock it at an address. */
const max = 10;

/** The owner's account, as whoever has or guesses its password sees it. */
async function opened(config: Partial<OAuthConfig> = {}, options: Parameters<typeof openServer>[1] = {}) {
  const world = await openServer(config, options);
  const { server, owner } = world;
  await server.accounts.setPassword(owner.accountId, password);
  return { ...world, unlock: () => server.members.unlock(owner.accountId), ...tries(world) };
}

function tries({ server }: Pick<TestServer, 'server'>) {
  const attempt = (address: string, given = password) =>
    refusal(server.accounts.signIn('owner@localhost', given, { address, userAgent: null }));
  const fail = (address: string, count = max) =>
    Promise.all(Array.from({ length: count }, () => attempt(address, 'wrong')));
  return { attempt, fail };
}

describe('an unlock', () => {
  test('ends the lock-outs of an account at every address, and the next wrong passwords lock it again', async () => {
    const { attempt, fail, unlock, owner } = await opened();
    for (const address of [home, office]) await fail(address);
    for (const address of [home, office]) expect(await attempt(address)).toBe('rate_limited');
    expect(await unlock()).toEqual({ id: owner.accountId, email: 'owner@localhost', wasLocked: true });
    for (const address of [home, office]) expect(await attempt(address)).toBe(undefined);

    await fail(home);
    expect(await attempt(home)).toBe('rate_limited');
    expect(await unlock()).toMatchObject({ wasLocked: true });
    expect(await attempt(home)).toBe(undefined);
  });

  test('counts in every process that has the store, also while passwords are tried', async () => {
    const { attempt, fail, store, owner } = await opened();
    const { server: another } = await openServer({}, { store });
    const failing = fail(home);
    expect(await attempt(home)).toBe('rate_limited');
    await another.members.unlock(owner.accountId);
    expect(await attempt(home)).toBe(undefined);
    await failing;
    expect(await attempt(home)).toBe(undefined);
  });

  test('says where nothing was locked: before, after an unlock, and once a lock has ended', async () => {
    const { fail, unlock, clock } = await opened();
    await fail(home, max - 1);
    expect(await unlock()).toMatchObject({ wasLocked: false });
    await fail(home);
    expect([await unlock(), await unlock()]).toMatchObject([{ wasLocked: true }, { wasLocked: false }]);
    await fail(home);
    clock.jump(defaultOAuthConfig.failures.windowSeconds * 1000);
    expect(await unlock()).toMatchObject({ wasLocked: false });
  });

  test('is what a new password is, too: guesses at the one before count no more', async () => {
    const { attempt, fail, unlock, server, owner } = await opened();
    await fail(home);
    await server.accounts.setPassword(owner.accountId, 'another horse battery');
    expect(await attempt(home, 'another horse battery')).toBe(undefined);
    expect(await unlock()).toMatchObject({ wasLocked: false });
  });

  test('of an account leaves a network locked, which had wrong passwords of all', async () => {
    const failures = { ...defaultOAuthConfig.failures, passwordsPerAddress: max };
    const { attempt, fail, unlock } = await opened({ failures });
    await fail(home);
    expect(await unlock()).toMatchObject({ wasLocked: true });
    expect(await attempt(home)).toBe('rate_limited');
    expect(await attempt(office)).toBe(undefined);
  });

  test("is an admin's for members alone, and both organizations of the account see who did it", async () => {
    const { ann, bob, member, server, call } = await openAdminWorld();
    const params = { account_id: member.accountId };
    expect(await refusal(bob.client.admin.unlockPerson({ params }))).toBe('not_found');
    expect(await refusal(server.members.unlock('none'))).toBe('not_found');
    await bob.client.admin.addPerson({ body: { email: member.email } });
    const key = await ann.client.oauth.createApiKey({ body: {} });
    const byKey = await call('POST', `/api/admin/people/${member.accountId}/unlock`, {
      authorization: `Bearer ${key}`,
    });
    expect([byKey.status, byKey.json()]).toEqual([
      200,
      { id: member.accountId, email: member.email, was_locked: false },
    ]);
    for (const { client } of [ann, bob])
      expect(await client.admin.listAudit({ query: { action: 'account.unlock' } })).toMatchObject([
        { actor: { id: ann.accountId }, account: { id: member.accountId }, organization_id: null },
      ]);
  });
});
