import { auditActions } from '@sallyport/core/contract';
import { defaultOAuthConfig } from '@sallyport/oauth/server';
import { describe, expect, test } from 'vitest';
import { openAdminWorld } from './admin-world.ts';
import { cheapPasswords, clientId, openServer, refusal } from './open-server.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const password = 'correct horse battery';
const scopes = ['profile', 'vendor_api'];

type Row = Readonly<Record<string, unknown>>;

/** All entries as they are stored, the oldest first. */
function stored({ db }: { db: { prepare(sql: string): { all(): unknown[] } } }): Row[] {
  return db.prepare('SELECT * FROM audit_entry ORDER BY id').all() as Row[];
}

/** Does one thing, and gives the entries that it made. */
async function entriesOf(store: Parameters<typeof stored>[0], act: () => Promise<unknown>): Promise<Row[]> {
  const before = stored(store).length;
  await act();
  return stored(store).slice(before);
}

/** Signs in as a browser does. */
async function signInPage(url: string, email: string, given: string): Promise<void> {
  const page = await fetch(`${url}/login`);
  const proof = /name="proof" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
  await fetch(`${url}/login`, {
    method: 'POST',
    redirect: 'manual',
    headers: {
      cookie: page.headers.get('set-cookie')?.split(';', 1).join() ?? '',
      'request-id': 'req_page',
    },
    body: new URLSearchParams({ proof, email, password: given }),
  });
}

const nowhere = { address: '', userAgent: null };

test('every kind of act makes its entry, and nothing else does', async () => {
  const world = await openAdminWorld();
  const { server, store, clock, ann, member, bob, organizationId } = world;
  const { accountId } = member;
  const owner = { accountId, organizationId };
  const seen = new Set<unknown>();
  const expectEntries = async (act: () => Promise<unknown>, ...expected: Row[]) => {
    const made = await entriesOf(store, act);
    expect(made).toMatchObject(expected);
    for (const { action } of made) seen.add(action);
  };
  const whose = { account_id: accountId, organization_id: organizationId };

  await expectEntries(() => server.accounts.setPassword(accountId, password), {
    action: 'password.set',
    account_id: accountId,
    organization_id: null,
  });
  await expectEntries(() => server.accounts.signIn(member.email, password, nowhere), {
    action: 'sign_in',
    outcome: 'done',
    actor_type: 'account',
    actor_id: accountId,
  });
  await expectEntries(() => refusal(server.accounts.signIn(member.email, 'wrong', nowhere)), {
    action: 'sign_in',
    outcome: 'failed',
    actor_type: 'unknown',
    actor_id: null,
    account_id: accountId,
  });
  await expectEntries(() => refusal(server.accounts.signIn('no@example.com', password, nowhere)), {
    action: 'sign_in',
    outcome: 'failed',
    account_id: null,
  });
  const guesses = { ...nowhere, address: '192.0.2.7' };
  for (let count = 1; count < 10; count++)
    await refusal(server.accounts.signIn(member.email, 'wrong', guesses));
  const lock = { action: 'account.lock', outcome: 'done', actor_type: 'unknown', account_id: accountId };
  const until = JSON.stringify({ until: new Date(clock.now() + 600_000).toISOString() });
  await expectEntries(
    () => refusal(server.accounts.signIn(member.email, 'wrong', guesses)),
    { action: 'sign_in', outcome: 'failed' },
    { ...lock, subject: null, details: until },
  );
  // Locked: not another word.
  await expectEntries(() => refusal(server.accounts.signIn(member.email, 'wrong', guesses)));
  await expectEntries(() => server.members.unlock(accountId), {
    action: 'account.unlock',
    actor_type: 'unknown',
    account_id: accountId,
    organization_id: null,
  });
  const names = Array.from({ length: 8 }, (_, count) => `no-${count}@example.com`);
  for (const name of names)
    for (let count = 0; count < 11; count++) await refusal(server.accounts.signIn(name, 'wrong', guesses));
  for (let count = 1; count < 10; count++) await refusal(server.accounts.signIn('n@n', 'wrong', guesses));
  await expectEntries(
    () => refusal(server.accounts.signIn('n@n', 'wrong', guesses)),
    { action: 'sign_in', outcome: 'failed', account_id: null },
    { action: 'network.lock', account_id: null, organization_id: null, subject: '192.0.2.7', details: until },
  );
  await expectEntries(() => refusal(server.accounts.signIn('x@y', 'wrong', guesses)));
  const link = new URL((await server.accounts.setupLink(accountId)).url).searchParams.get('token') ?? '';
  await expectEntries(
    () => server.accounts.setUp(link, password),
    { action: 'password.set', actor_id: accountId },
    { action: 'sign_in', actor_id: accountId },
  );
  const session = await server.sessions.issue(accountId);
  await expectEntries(() => server.sessions.end(session), {
    action: 'sign_out',
    subject: session.sessionId,
    account_id: accountId,
  });
  await expectEntries(() => server.sessions.end(session));

  // Grants. An address is the caller's, which has none here.
  const code = await world.code();
  await expectEntries(() => world.exchange(code), {
    action: 'login.begin',
    actor_id: world.owner.accountId,
    details: JSON.stringify({ client_id: clientId, grant: 'authorization_code' }),
  });
  await expectEntries(() => refusal(world.exchange(code)), {
    action: 'login.revoke',
    actor_type: 'unknown',
    account_id: world.owner.accountId,
    details: JSON.stringify({ client_id: clientId, reason: 'code_replayed' }),
  });
  // What ended at the first replay does not end again.
  await expectEntries(() => refusal(world.exchange(code)));
  const device = await server.deviceFlow.start({ client_id: clientId }, '192.0.2.9');
  await expectEntries(
    () =>
      server.deviceFlow.decide(device.user_code, { accountId, sessionId: 's' }, '192.0.2.9', {
        approve: true,
        organizationId,
      }),
    { action: 'device_code.approve', ...whose, details: expect.stringContaining('192.0.2.9') as unknown },
  );
  await expectEntries(() => world.poll(device.device_code), {
    action: 'login.begin',
    ...whose,
    details: JSON.stringify({ client_id: clientId, grant: 'device_code' }),
  });
  const denied = await server.deviceFlow.start({ client_id: clientId }, '192.0.2.9');
  await expectEntries(
    () =>
      server.deviceFlow.decide(denied.user_code, { accountId, sessionId: 's' }, '192.0.2.9', {
        approve: false,
        organizationId,
      }),
    { action: 'device_code.deny', account_id: accountId },
  );
  await expectEntries(async () => {
    const second = await world.refresh(member.refreshToken);
    await world.refresh(second.refresh_token ?? '');
    clock.jump(60_000);
  });
  await expectEntries(() => refusal(world.refresh(member.refreshToken)), {
    action: 'login.revoke',
    actor_type: 'unknown',
    ...whose,
    details: JSON.stringify({ client_id: clientId, reason: 'refresh_token_replayed' }),
  });
  const again = await world.logIn(member.email, organizationId);
  const dead = { client_id: clientId, token: again.accessToken };
  await expectEntries(() => server.revoke(dead), { action: 'access_token.revoke', ...whose });
  const gone = { client_id: clientId, token: again.refreshToken };
  await expectEntries(() => server.revoke(gone), { action: 'login.revoke', actor_id: accountId, ...whose });
  await expectEntries(() => server.revoke(gone));

  // Keys and devices.
  const caller = { ...owner, scopes, isApiKey: false };
  await expectEntries(() => server.apiKeys.create(caller, { name: 'build' }), {
    action: 'api_key.add',
    ...whose,
    details: JSON.stringify({ name: 'build' }),
  });
  const [key] = await server.apiKeys.list(owner);
  await expectEntries(() => server.apiKeys.revoke(key?.id ?? '', owner), {
    action: 'api_key.revoke',
    subject: key?.id,
    ...whose,
  });
  await expectEntries(() => server.apiKeys.revoke(key?.id ?? '', owner));
  await expectEntries(() => refusal(server.apiKeys.revoke('none', owner)));
  await expectEntries(() => server.trustedDevices.trust(owner, 'laptop'), {
    action: 'trusted_device.add',
    ...whose,
    details: JSON.stringify({ name: 'laptop' }),
  });
  const [laptop] = await server.trustedDevices.list(owner);
  await expectEntries(() => server.trustedDevices.revoke(laptop?.id ?? '', owner), {
    action: 'trusted_device.revoke',
    subject: laptop?.id,
    ...whose,
  });
  await expectEntries(() => server.trustedDevices.revoke(laptop?.id ?? '', owner));

  // What admins and operators do.
  const { admin } = ann.client;
  const byAnn = { actor_type: 'account', actor_id: ann.accountId, address: '127.0.0.1' };
  const person = { body: { email: 'new@example.com', role: 'viewer' as const } };
  await expectEntries(
    () => admin.addPerson(person),
    { action: 'account.add', ...byAnn, organization_id: organizationId, details: '{"role":"viewer"}' },
    { action: 'setup_link.make', ...byAnn },
  );
  await expectEntries(() => admin.addPerson({ body: { email: bob.email } }), {
    action: 'membership.set',
    ...byAnn,
    account_id: bob.accountId,
  });
  const bobs = { account_id: bob.accountId };
  await expectEntries(() => admin.changeRole({ params: bobs, body: { role: 'viewer' } }), {
    action: 'membership.set',
    ...byAnn,
    details: '{"role":"viewer"}',
  });
  await expectEntries(() => admin.removePerson({ params: bobs }), { action: 'membership.end', ...byAnn });
  await expectEntries(() => refusal(admin.removePerson({ params: bobs })));
  const theme = { params: { name: 'theme' } };
  await expectEntries(() => admin.setSetting({ ...theme, body: { value: 'hidden-value' } }), {
    action: 'setting.set',
    ...byAnn,
    subject: 'theme',
    details: '{}',
  });
  await expectEntries(() => admin.unsetSetting(theme), { action: 'setting.unset', ...byAnn });
  const client = { client_name: 'Editor', redirect_uris: ['https://editor.example/cb'] };
  let added = '';
  await expectEntries(async () => void (added = (await admin.addClient({ body: client })).client_id), {
    action: 'client.add',
    ...byAnn,
    details: '{"name":"Editor"}',
  });
  await expectEntries(() => admin.removeClient({ params: { client_id: added } }), {
    action: 'client.remove',
    ...byAnn,
    subject: added,
  });
  await expectEntries(() => server.organizations.add({ name: 'Third' }), { action: 'organization.add' });
  const { id: fourth } = await server.organizations.add({ name: 'Fourth' });
  for (const step of ['close', 'erase'] as const)
    await expectEntries(() => server.organizationData[step](fourth), {
      action: `organization.${step}`,
      actor_type: 'unknown',
      organization_id: fourth,
    });
  // What is not there, and the first one, stay without an entry.
  for (const id of [fourth, organizationId])
    await expectEntries(() => refusal(server.organizationData.close(id)));
  await expectEntries(() => server.organizationData.erase(fourth));
  await expectEntries(() => server.organizations.change(organizationId, { rateLimitTier: 'high' }), {
    action: 'organization.change',
    details: '{"rate_limit_tier":"high"}',
  });
  await expectEntries(() => server.signer.rotate(), { action: 'signing_key.rotate' });
  await expectEntries(() => server.audit.record({ action: 'account.export', accountId }), {
    action: 'account.export',
  });
  await expectEntries(() => server.members.remove(world.viewer.accountId), {
    action: 'account.remove',
    account_id: world.viewer.accountId,
  });
  await expectEntries(() => server.accountData.close(accountId), { action: 'account.close' });
  await expectEntries(() => server.accountData.erase(accountId), { action: 'account.erase' });

  // What the bridge has audited is in test/rights/session-creators.test.ts.
  const ofBridge = ['session.delete'];
  expect([...seen, ...ofBridge].sort()).toEqual([...auditActions].sort());
  expect(JSON.stringify(stored(store))).not.toContain('hidden-value');
  for (const secret of [
    password,
    member.refreshToken,
    ann.accessToken,
    code,
    device.device_code,
    session.sessionKey,
  ])
    expect(JSON.stringify(stored(store))).not.toContain(secret);
  expect(JSON.stringify(stored(store))).not.toContain('@example.com');
});

describe('an entry', () => {
  test('tells where the call came from: address and request id, on rows and on pages', async () => {
    const { ann, call, url, store, server, member } = await openAdminWorld();
    const headers = { ...bearer(ann.accessToken), 'request-id': 'req_mine' };
    const [made] = await entriesOf(store, () =>
      call('POST', '/api/auth/trusted_devices', headers, { display_name: 'laptop' }),
    );
    expect(made).toMatchObject({
      action: 'trusted_device.add',
      actor_id: ann.accountId,
      address: '127.0.0.1',
      request_id: 'req_mine',
    });

    await server.accounts.setPassword(member.accountId, password);
    const from = { address: '127.0.0.1', request_id: 'req_page', account_id: member.accountId };
    expect(await entriesOf(store, () => signInPage(url, member.email, 'wrong'))).toMatchObject([
      { action: 'sign_in', outcome: 'failed', actor_type: 'unknown', ...from },
    ]);
    expect(await entriesOf(store, () => signInPage(url, member.email, password))).toMatchObject([
      { action: 'sign_in', outcome: 'done', actor_id: member.accountId, ...from },
    ]);
  });

  test('of a lock is for the organizations of the account, with the address; of a network for operators', async () => {
    const { ann, bob, server, url, member } = await openAdminWorld({
      failures: { ...defaultOAuthConfig.failures, passwords: 2, passwordsPerAddress: 3 },
    });
    for (const email of [member.email, member.email, 'no@example.com', 'no@example.com'])
      await signInPage(url, email, 'wrong');
    const locks = async ({ client }: typeof ann) =>
      (await client.admin.listAudit()).filter(({ action }) => action.endsWith('.lock'));
    expect(await locks(ann)).toMatchObject([
      { action: 'account.lock', account: { id: member.accountId }, address: '127.0.0.1' },
    ]);
    expect(await locks(bob)).toEqual([]);
    const { items } = await server.audit.queryAll({ limit: 10, action: 'network.lock' });
    expect(items).toMatchObject([{ subject: '127.0.0.1', address: '127.0.0.1', accountId: null }]);
  });

  test('is written with its act or not at all, and the act without it neither', async () => {
    const { server, store, owner, organizationId } = await openServer();
    const caller = { accountId: owner.accountId, organizationId, scopes, isApiKey: false };
    store.db.exec('ALTER TABLE audit_entry RENAME TO lost');
    await expect(server.apiKeys.create(caller, {})).rejects.toThrow(/audit_entry/);
    expect(await server.apiKeys.list(caller)).toEqual([]);
    store.db.exec('ALTER TABLE lost RENAME TO audit_entry');
    await server.apiKeys.create(caller, {});
    expect(await server.apiKeys.list(caller)).toHaveLength(1);
  });

  test('of an erased account keeps the act, and loses where from and by what names it was done', async () => {
    const { ann, member, call, store, server, url } = await openAdminWorld();
    await call('POST', '/api/auth/trusted_devices', bearer(member.accessToken), {
      display_name: "member's laptop",
    });
    await server.accounts.setPassword(member.accountId, password);
    await signInPage(url, member.email, 'wrong');
    const [device] = await ann.client.admin.listDevices();
    await ann.client.admin.revokeDevice({ params: { device_id: device?.id ?? '' } });
    const before = stored(store);
    await server.accountData.close(member.accountId);
    await server.accountData.erase(member.accountId);

    const after = stored(store).slice(0, before.length);
    expect(after.map(({ id, action, actor_id, account_id }) => [id, action, actor_id, account_id])).toEqual(
      before.map(({ id, action, actor_id, account_id }) => [id, action, actor_id, account_id]),
    );
    const of = (rows: Row[]) => rows.filter(({ account_id: of }) => of === member.accountId);
    expect(of(before).filter(({ address }) => address !== null)).toHaveLength(3);
    // The admin's own address stays with what the admin did.
    expect(of(after).filter(({ address }) => address !== null)).toMatchObject([
      { action: 'trusted_device.revoke', actor_id: ann.accountId },
    ]);
    expect(JSON.stringify(before)).toContain("member's laptop");
    expect(JSON.stringify(after)).not.toContain("member's laptop");
  });

  test('is forgotten after its time, not before', async () => {
    const { server, store, clock, owner } = await openServer({
      password: cheapPasswords,
      auditRetentionDays: 2,
    });
    const day = 24 * 3600_000;
    clock.jump(day);
    await server.sessions.issue(owner.accountId);
    expect(stored(store)).toHaveLength(2);
    clock.jump(day - 1);
    await server.sweep();
    expect(stored(store)).toHaveLength(2);
    clock.jump(1);
    await server.sweep();
    expect(stored(store)).toHaveLength(1);
    clock.jump(day);
    await server.sweep();
    expect(stored(store)).toEqual([]);
    expect(store.db.prepare('SELECT count(*) AS count FROM audit_view').get()).toEqual({ count: 0 });
  });
});

describe('the log', () => {
  test('is read page by page, newest first, each entry once, while more are written', async () => {
    const { ann, call, server, clock } = await openAdminWorld();
    for (let made = 0; made < 5; made++) {
      clock.jump(1000);
      await server.trustedDevices.trust(ann, `machine ${made}`);
    }
    const whole = (await ann.client.admin.listAudit()).map(({ id }) => id);
    const seen: string[] = [];
    let path: string | undefined = '/api/admin/audit?limit=3';
    while (path !== undefined) {
      const page = await call('GET', path, bearer(ann.accessToken));
      seen.push(...(page.json() as { id: string }[]).map(({ id }) => id));
      await server.trustedDevices.trust(ann, 'another');
      path = /<(.+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
    }
    expect(whole.length).toBeGreaterThan(10);
    expect(seen).toEqual(whole);

    const people = await call('GET', '/api/admin/people?limit=1', bearer(ann.accessToken));
    const offset = /offset=([^&>]+)/.exec(people.headers.get('link') ?? '')?.[1] ?? '';
    const wrong = await call('GET', `/api/admin/audit?offset=${offset}`, bearer(ann.accessToken));
    expect([wrong.status, offset.length > 0]).toEqual([400, true]);
  });

  test('is filtered by actor, action and time', async () => {
    const { ann, member, server, clock } = await openAdminWorld();
    const { listAudit } = ann.client.admin;
    clock.jump(60_000);
    const since = new Date(clock.now()).toISOString();
    await server.trustedDevices.trust(member, 'laptop');
    clock.jump(60_000);
    const until = new Date(clock.now()).toISOString();
    await ann.client.admin.setSetting({ params: { name: 'x' }, body: { value: 1 } });

    const actions = async (query: Parameters<typeof listAudit>[0]) =>
      (await listAudit(query)).map(({ action }) => action);
    expect(await actions({ query: { since, until } })).toEqual(['trusted_device.add']);
    expect(await actions({ query: { since: until } })).toEqual(['setting.set']);
    expect(await actions({ query: { actor: 'ann@example.com', since } })).toEqual(['setting.set']);
    expect(await actions({ query: { actor: member.accountId, since } })).toEqual(['trusted_device.add']);
    expect(await actions({ query: { actor: 'nobody@example.com' } })).toEqual([]);
    expect(await actions({ query: { action: 'trusted_device.add' } })).toEqual(['trusted_device.add']);
    expect(await actions({ query: { action: 'trusted_device.add', actor: 'ann@example.com' } })).toEqual([]);
    expect(await refusal(listAudit({ query: { action: 'none' as never } }))).toBe('invalid_request');
    expect(await refusal(listAudit({ query: { since: 'yesterday' } }))).toBe('invalid_request');

    const [entry] = await listAudit({ query: { action: 'setting.set' } });
    expect(entry).toEqual({
      id: entry?.id,
      at: until,
      action: 'setting.set',
      outcome: 'done',
      actor: { type: 'account', id: ann.accountId, email: 'ann@example.com' },
      account: null,
      organization_id: ann.organizationId,
      subject: 'x',
      details: {},
      address: '127.0.0.1',
      request_id: expect.stringMatching(/^req_/) as unknown,
    });
  });

  test("shows an account's sign-ins to the organizations that it is a member of then, and to no other", async () => {
    const { ann, bob, member, server } = await openAdminWorld();
    const signIns = async ({ client }: typeof ann) =>
      (await client.admin.listAudit({ query: { action: 'sign_in' } })).filter(
        ({ account }) => account?.id === member.accountId,
      ).length;
    expect([await signIns(ann), await signIns(bob)]).toEqual([1, 0]);
    await bob.client.admin.addPerson({ body: { email: member.email } });
    expect([await signIns(ann), await signIns(bob)]).toEqual([1, 0]);
    await server.sessions.issue(member.accountId);
    expect([await signIns(ann), await signIns(bob)]).toEqual([2, 1]);
    await bob.client.admin.removePerson({ params: { account_id: member.accountId } });
    await server.sessions.issue(member.accountId);
    expect([await signIns(ann), await signIns(bob)]).toEqual([3, 1]);
  });
});
