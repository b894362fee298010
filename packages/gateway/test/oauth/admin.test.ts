import { inDialect, neutralDialect, toTimestamp } from '@sallyport/core';
import { endpoints, firstPartyClient, gatewayClient } from '@sallyport/core/contract';
import { describe, expect, test } from 'vitest';
import { openAdminWorld } from './admin-world.ts';
import { refusal } from './open-server.ts';

const rows = endpoints.filter(({ area }) => area === 'admin');
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('every row of administration', () => {
  test('is for admins alone: 401 to nobody, 403 to a viewer and to a member', async () => {
    const { call, member, viewer } = await openAdminWorld();
    expect(rows.length).toBeGreaterThan(15);
    for (const { method, path } of rows) {
      const at = inDialect(path, neutralDialect).replace(/\{\w+\}/g, 'x');
      const body = method === 'POST' ? {} : undefined;
      const statuses = await Promise.all([
        call(method, at, {}, body),
        call(method, at, bearer(viewer.accessToken), body),
        call(method, at, bearer(member.accessToken), body),
      ]);
      expect([path, ...statuses.map(({ status }) => status)]).toEqual([path, 401, 403, 403]);
    }
  });

  test('is an extension under /api/admin, for the scope and the permission of admins', () => {
    for (const { path, extension, scope, permission } of rows)
      expect([path, extension, scope, permission]).toEqual([
        expect.stringMatching(/^\/api\/admin\/\w+/),
        true,
        'vendor_api',
        'manage_projects',
      ]);
  });

  test("shows an admin nothing of another organization's, and ends nothing there", async () => {
    const world = await openAdminWorld();
    const { ann, bob, member, server } = world;
    const { accountId, organizationId } = member;
    const scopes = ['profile', 'vendor_api'];
    await server.apiKeys.create({ accountId, organizationId, scopes, isApiKey: false }, {});
    await server.trustedDevices.trust(member, 'laptop');
    await ann.client.admin.setSetting({ params: { name: 'theme' }, body: { value: 'dark' } });

    const theirs = bob.client.admin;
    const mine = ann.client.admin;
    const ids = {
      keys: (await mine.listApiKeys()).map(({ id }) => id),
      devices: (await mine.listDevices()).map(({ id }) => id),
      logins: (await mine.listLogins()).map(({ id }) => id),
      signIns: (await mine.listSignIns()).map(({ id }) => id),
    };
    for (const found of Object.values(ids)) expect(found.length).toBeGreaterThan(0);
    expect((await theirs.listPeople()).map(({ email }) => email)).toEqual(['bob@example.com']);
    expect(await theirs.listApiKeys()).toEqual([]);
    expect(await theirs.listDevices()).toEqual([]);
    expect((await theirs.listLogins()).map(({ account }) => account.email)).toEqual(['bob@example.com']);
    expect(new Set((await theirs.listSignIns()).map(({ account }) => account.email))).toEqual(
      new Set(['bob@example.com']),
    );
    expect(await theirs.listSettings()).toEqual({ settings: {} });
    for (const { organization_id, account } of await theirs.listAudit())
      expect([organization_id ?? bob.organizationId, account?.email ?? 'bob@example.com']).toEqual([
        bob.organizationId,
        'bob@example.com',
      ]);

    const [key_id = '', device_id = '', login_id = '', sign_in_id = ''] = Object.values(ids).map(
      ([first]) => first ?? '',
    );
    const params = { account_id: member.accountId };
    for (const call of [
      () => theirs.revokeApiKey({ params: { key_id } }),
      () => theirs.revokeDevice({ params: { device_id } }),
      () => theirs.revokeLogin({ params: { login_id } }),
      () => theirs.endSignIn({ params: { sign_in_id } }),
      () => theirs.changeRole({ params, body: { role: 'viewer' } }),
      () => theirs.unlockPerson({ params }),
      () => theirs.removePerson({ params }),
      () => theirs.unsetSetting({ params: { name: 'theme' } }),
    ])
      expect(await refusal(call())).toBe('not_found');
    expect((await mine.listApiKeys()).map(({ id }) => id)).toEqual(ids.keys);
    expect((await mine.listDevices()).map(({ id }) => id)).toEqual(ids.devices);
    expect((await mine.listLogins()).map(({ id }) => id)).toEqual(ids.logins);
    expect((await mine.listSignIns()).map(({ id }) => id)).toEqual(ids.signIns);
  });
});

test('logins and sign-ins say where they are from', async () => {
  const { ann, member, server, exchange, code } = await openAdminWorld();
  const origin = { address: '192.0.2.7', userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0' };
  await server.accounts.setPassword(member.accountId, 'correct horse battery staple');
  await server.accounts.signIn(member.email, 'correct horse battery staple', origin);
  expect(await ann.client.admin.listSignIns()).toContainEqual(
    expect.objectContaining({
      account: { id: member.accountId, email: member.email },
      address: '192.0.2.7',
      user_agent: origin.userAgent,
    }),
  );
  await exchange(await code());
  expect((await ann.client.admin.listLogins())[0]).toMatchObject({
    client_id: firstPartyClient.id,
    address: '127.0.0.1',
  });
});

describe('people', () => {
  test('are listed page by page, each once, the oldest account first', async () => {
    const { ann, call } = await openAdminWorld();
    const seen: string[] = [];
    let path: string | undefined = '/api/admin/people?limit=1';
    while (path !== undefined) {
      const page = await call('GET', path, bearer(ann.accessToken));
      expect(page.status).toBe(200);
      const people = page.json() as { email: string }[];
      expect(people).toHaveLength(1);
      seen.push(...people.map(({ email }) => email));
      path = /<(.+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
    }
    expect(seen).toEqual(
      (await ann.client.admin.listPeople({ query: { limit: 1000 } })).map(({ email }) => email),
    );
    expect(new Set(seen)).toEqual(
      new Set(['owner@localhost', 'ann@example.com', 'member@example.com', 'viewer@example.com']),
    );
    // The next page is asked for with all of the query, a question mark in it included (RFC 3986 3.4).
    const odd = await call('GET', '/api/admin/people?limit=1&x=a?b', bearer(ann.accessToken));
    expect(odd.headers.get('link')).toMatch(
      /^<\/api\/admin\/people\?limit=1&x=a%3Fb&offset=[\w-]+>; rel="next"$/,
    );
    expect((await call('GET', '/api/admin/people?limit=0', bearer(ann.accessToken))).status).toBe(400);
    expect((await call('GET', '/api/admin/people?offset=x', bearer(ann.accessToken))).status).toBe(400);
  });

  test('that are new get a link to set their password; whoever has doors elsewhere gets none', async () => {
    const { ann, bob, clock, server } = await openAdminWorld();
    const { addPerson, listPeople, removePerson } = ann.client.admin;
    const added = await addPerson({ body: { email: 'New@Example.com', role: 'viewer' } });
    expect(added).toMatchObject({ email: 'new@example.com', role: 'viewer', has_password: false });
    const { setupLinkSeconds } = server.config;
    expect(added.setup_link_expires_at).toBe(toTimestamp(clock.now() + setupLinkSeconds * 1000));
    // A link that was not used in time is replaced so; the one before counts no more.
    await removePerson({ params: { account_id: added.id } });
    const again = await addPerson({ body: { email: 'new@example.com', role: 'viewer' } });
    expect(again).toMatchObject({ id: added.id, has_password: false });
    const tokenOf = (link = '') => new URL(link).searchParams.get('token') ?? '';
    await expect(server.accounts.setUp(tokenOf(added.setup_link), 'correct horse battery')).rejects.toThrow();
    await server.accounts.setUp(tokenOf(again.setup_link), 'correct horse battery');
    expect((await listPeople()).find(({ id }) => id === added.id)).toMatchObject({ has_password: true });
    expect(await refusal(addPerson({ body: { email: 'new@example.com' } }))).toBe('conflict');
    for (const email of ['nobody', 'a\u001b[2J@b.example', 'ann\u200b@example.com'])
      expect(await refusal(addPerson({ body: { email } }))).toBe('invalid_request');

    // Bob's account has no password, but an organization of its own.
    const joined = await addPerson({ body: { email: bob.email, role: 'member' } });
    expect(joined).toMatchObject({ id: bob.accountId, role: 'member' });
    expect(joined.setup_link).toBe(undefined);

    await removePerson({ params: { account_id: bob.accountId } });
    expect((await bob.client.admin.listPeople()).map(({ id }) => id)).toEqual([bob.accountId]);
  });

  test('are not let in, nor raised, by an API key, not even an admin’s', async () => {
    const { ann, member, call } = await openAdminWorld();
    const key = await ann.client.oauth.createApiKey({ body: {} });
    const asKey = async (path: string, body: object) => {
      const answer = await call('POST', `/api/admin/${path}`, bearer(key), body);
      return [answer.status, (answer.json() as { error: string }).error];
    };
    const refused = [403, 'forbidden'];
    expect(await asKey('people', { email: 'new@example.com' })).toEqual(refused);
    expect(await asKey(`people/${member.accountId}`, { role: 'admin' })).toEqual(refused);
    const client = { client_name: 'c', redirect_uris: ['http://127.0.0.1/callback'] };
    expect(await asKey('clients', client)).toEqual(refused);
    expect((await call('GET', '/api/admin/people', bearer(key))).status).toBe(200);
  });

  test('change their role and leave; an organization keeps an admin', async () => {
    const { ann, bob, member, call } = await openAdminWorld();
    const params = { account_id: member.accountId };
    expect(await ann.client.admin.changeRole({ params, body: { role: 'viewer' } })).toMatchObject({
      id: member.accountId,
      role: 'viewer',
    });
    await ann.client.admin.removePerson({ params });
    expect((await call('GET', '/api/oauth/profile', bearer(member.accessToken))).status).toBe(401);
    expect(await refusal(ann.client.admin.changeRole({ params, body: { role: 'admin' } }))).toBe('not_found');
    const own = { account_id: bob.accountId };
    expect(await refusal(bob.client.admin.removePerson({ params: own }))).toBe('conflict');
    expect(await refusal(bob.client.admin.changeRole({ params: own, body: { role: 'member' } }))).toBe(
      'conflict',
    );
  });
});

test('an erasure begins by ending all that calls as the account, unless an organization would have no admin', async () => {
  const { ann, bob, server, call } = await openAdminWorld();
  expect(await refusal(server.accountData.close(bob.accountId))).toBe('conflict');
  expect((await call('GET', '/api/oauth/profile', bearer(bob.accessToken))).status).toBe(200);
  expect(await refusal(server.accountData.close('none'))).toBe('not_found');
  await server.accountData.close(ann.accountId);
  expect((await call('GET', '/api/oauth/profile', bearer(ann.accessToken))).status).toBe(401);
  // Until its last step it is found by its address, and can be begun again.
  expect((await server.accounts.find(ann.email)).id).toBe(ann.accountId);
  await server.accountData.close(ann.accountId);
  await server.accountData.erase(ann.accountId);
  expect(await refusal(server.accounts.find(ann.email))).toBe('not_found');
});

describe('credentials', () => {
  test('of members are listed with whose they are, and end at once', async () => {
    const { ann, member, server, call, refresh } = await openAdminWorld();
    const { accountId, organizationId } = member;
    const scopes = ['profile', 'vendor_api'];
    const key = await server.apiKeys.create(
      { accountId, organizationId, scopes, isApiKey: false },
      { name: 'build' },
    );
    const device = await server.trustedDevices.trust(member, 'laptop');
    const signedIn = await server.sessions.issue(member.accountId);

    const { admin } = ann.client;
    const account = { id: member.accountId, email: member.email };
    const [listed] = await admin.listApiKeys();
    expect(listed).toMatchObject({ account, name: 'build', scope: 'profile vendor_api', expires_at: null });
    expect(JSON.stringify(listed)).not.toContain(key);
    await admin.revokeApiKey({ params: { key_id: listed?.id ?? '' } });
    expect(await refusal(server.apiKeys.verify(key))).toBe('invalid_token');
    expect(await refusal(admin.revokeApiKey({ params: { key_id: listed?.id ?? '' } }))).toBe('not_found');
    expect(await admin.listApiKeys()).toEqual([]);

    const [trusted] = await admin.listDevices();
    expect(trusted).toMatchObject({ account, display_name: 'laptop', last_used_at: null });
    await admin.revokeDevice({ params: { device_id: trusted?.id ?? '' } });
    expect(await refusal(server.trustedDevices.check(device, member))).toBe('device_revoked');
    expect(await refusal(admin.revokeDevice({ params: { device_id: trusted?.id ?? '' } }))).toBe('not_found');

    const login = (await admin.listLogins()).find(({ account: { id } }) => id === member.accountId);
    expect(login).toMatchObject({ account, client_id: firstPartyClient.id, client_name: 'Sallyport CLI' });
    await admin.revokeLogin({ params: { login_id: login?.id ?? '' } });
    expect((await call('GET', '/api/oauth/profile', bearer(member.accessToken))).status).toBe(401);
    expect(await refusal(refresh(member.refreshToken))).toBe('invalid_grant');
    expect(await refusal(admin.revokeLogin({ params: { login_id: login?.id ?? '' } }))).toBe('not_found');

    expect(await admin.listSignIns()).toContainEqual(
      expect.objectContaining({ id: signedIn.sessionId, account }),
    );
    await admin.endSignIn({ params: { sign_in_id: signedIn.sessionId } });
    expect(await refusal(server.sessions.authenticate(signedIn.sessionKey))).toBe('invalid_token');
  });
});

describe('OAuth clients', () => {
  const body = { client_name: 'Editor', redirect_uris: ['http://127.0.0.1/cb'], scope: 'profile' };

  test("are seen by every organization's admins, added and removed by the first one's", async () => {
    const { ann, bob } = await openAdminWorld();
    expect(await refusal(bob.client.admin.addClient({ body }))).toBe('forbidden');
    expect(await refusal(bob.client.admin.addClient({ body: {} as never }))).toBe('forbidden');
    for (const client_name of ['\u001b[2J', 'Sallyport\u202eILC', 'Editor\u200b', ' '])
      expect(await refusal(ann.client.admin.addClient({ body: { ...body, client_name } }))).toBe(
        'invalid_request',
      );
    const added = await ann.client.admin.addClient({ body });
    expect(added).toMatchObject(body);
    const params = { client_id: added.client_id };
    expect((await bob.client.admin.listClients()).at(-1)).toEqual(added);
    expect(await refusal(bob.client.admin.removeClient({ params }))).toBe('forbidden');
    await ann.client.admin.removeClient({ params });
    expect((await ann.client.admin.listClients()).map(({ client_id }) => client_id)).toEqual([
      firstPartyClient.id,
      gatewayClient.id,
    ]);
    expect(await refusal(ann.client.admin.removeClient({ params }))).toBe('not_found');
    expect(await refusal(ann.client.admin.removeClient({ params: { client_id: firstPartyClient.id } }))).toBe(
      'conflict',
    );
  });

  test('that are removed take their logins along', async () => {
    const { ann, server, exchange, refresh, code, call } = await openAdminWorld();
    const { client_id } = await ann.client.admin.addClient({ body });
    const redirect_uri = 'http://127.0.0.1/cb';
    const first = await code({ client_id, redirect_uri });
    const { refresh_token = '', access_token } = await exchange(first, { client_id, redirect_uri });
    const pending = await code({ client_id, redirect_uri });
    await ann.client.admin.removeClient({ params: { client_id } });
    expect(await refusal(server.accessTokens.verify(access_token))).toBe('invalid_token');
    expect(await refusal(refresh(refresh_token, { client_id }))).toBe('invalid_client');
    expect(await refusal(exchange(pending, { client_id, redirect_uri }))).toBe('invalid_client');
    expect((await call('GET', '/api/oauth/profile', bearer(access_token))).status).toBe(401);
  });

  test('are refused with what is wrong', async () => {
    const { ann } = await openAdminWorld();
    const bad = { ...body, redirect_uris: ['http://evil.example/cb'] };
    await expect(ann.client.admin.addClient({ body: bad })).rejects.toMatchObject({ status: 400 });
    expect(await refusal(ann.client.admin.addClient({ body: { ...body, scope: 'all' } }))).toBe(
      'invalid_scope',
    );
  });
});

test('managed settings are bounded together, since they are read as one', async () => {
  const { ann } = await openAdminWorld();
  const { admin } = ann.client;
  const set = (name: string, bytes: number) =>
    admin.setSetting({ params: { name }, body: { value: 'ä'.repeat((bytes - 2) / 2) } });
  const most = 64 * 1024;
  // With its name each takes 64 KiB.
  for (let at = 10; at < 26; at++) await set(String(at), most - 2);
  const all = await admin.listSettings();
  await expect(set('n', 4)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('more than 1048576 bytes together: unset one') as string,
  });
  expect(await admin.listSettings()).toEqual(all);
  // One in the place of another counts by itself.
  await set('10', most - 8);
  await set('n', 4);
  await expect(set('10', most - 2)).rejects.toMatchObject({ code: 'conflict' });
});

test("managed settings are set, read by members' programs, and unset", async () => {
  const { ann, member } = await openAdminWorld();
  const { admin } = ann.client;
  const set = (name: string, value: unknown) => admin.setSetting({ params: { name }, body: { value } });
  expect(await set('a/b', { deep: [1, null] })).toEqual({ settings: { 'a/b': { deep: [1, null] } } });
  expect(await set('off', false)).toEqual(await admin.listSettings());
  const headers = { 'vendor-beta': 'oauth-2025-04-20' };
  expect(await member.client.account.settings({ headers } as never)).toEqual({
    settings: { 'a/b': { deep: [1, null] }, off: false },
  });
  expect(await admin.unsetSetting({ params: { name: 'a/b' } })).toEqual({ settings: { off: false } });
  expect(await refusal(admin.unsetSetting({ params: { name: 'a/b' } }))).toBe('not_found');
  expect(await refusal(admin.setSetting({ params: { name: 'x' }, body: {} as never }))).toBe(
    'invalid_request',
  );
});
