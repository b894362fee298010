import { describe, expect, test } from 'vitest';
import { openOverHttp } from './over-http.ts';

async function open() {
  const opened = await openOverHttp();
  const { access_token: token } = await opened.login();
  const bearer = { authorization: `Bearer ${token}` };
  return { ...opened, bearer };
}

describe('roles', () => {
  test('are the three, with what they may do', async () => {
    await using opened = await open();
    const answer = await opened.call('GET', '/api/oauth/agent_cli/roles', opened.bearer);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
    expect(answer.json()).toEqual({
      roles: [
        { name: 'admin', permissions: ['read', 'write', 'manage_projects'] },
        { name: 'member', permissions: ['read', 'write'] },
        { name: 'viewer', permissions: ['read'] },
      ],
    });
  });
});

describe('current_user_access', () => {
  test("is the role of today in any organization of the account's; others are forbidden, what is none not found", async () => {
    await using opened = await open();
    const { server, organizationId, owner, store, call, bearer } = opened;
    const access = async (id: string) => {
      const answer = await call('GET', `/api/bootstrap/${id}/current_user_access`, bearer);
      return [answer.status, answer.json()] as const;
    };
    const second = await server.organizations.add({ name: 'Second' });
    await server.members.setRole(owner.accountId, second.id, 'viewer');
    const foreign = await server.organizations.add({ name: 'Foreign' });
    expect(await access(organizationId)).toEqual([
      200,
      { access_level: 'admin', permissions: ['read', 'write', 'manage_projects'] },
    ]);
    expect(await access(second.id)).toEqual([200, { access_level: 'viewer', permissions: ['read'] }]);
    expect(await access(foreign.id)).toMatchObject([403, { error: 'forbidden' }]);
    for (const unknown of ['none', '00000000-0000-4000-8000-000000000000', '%00', 'x'.repeat(500)])
      expect(await access(unknown)).toMatchObject([404, { error: 'not_found' }]);
    store.db.exec("UPDATE membership SET role = 'member'");
    expect(await access(organizationId)).toMatchObject([200, { access_level: 'member' }]);
    const answer = await call('GET', `/api/bootstrap/${organizationId}/current_user_access`, bearer);
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
    expect(answer.headers.get('vary')).toContain('Authorization');
  });
});

describe('managed settings', () => {
  const path = '/api/agent_code/settings';
  const beta = { 'vendor-beta': 'oauth-2025-04-20' };

  test('204 with nothing at all where there are none; 403 without the beta header', async () => {
    await using opened = await open();
    const { call, bearer } = opened;
    const none = await call('GET', path, { ...bearer, ...beta });
    expect([none.status, none.text]).toEqual([204, '']);
    for (const name of ['content-type', 'content-length', 'etag']) expect(none.headers.get(name)).toBe(null);
    const refused = await call('GET', path, bearer);
    expect([refused.status, refused.json()]).toMatchObject([403, { error: 'beta_not_enabled' }]);
  });

  test("are the caller's organization's, and 304 to whoever has them", async () => {
    await using opened = await open();
    const { server, organizationId, call, bearer } = opened;
    const other = await server.organizations.add({ name: 'Other' });
    await server.managedSettings.set(other.id, 'model', 'foreign');
    await server.managedSettings.set(organizationId, 'model', { name: 'large' });
    await server.managedSettings.set(organizationId, 'allow', [1, null, 'x']);
    const first = await call('GET', path, { ...bearer, ...beta });
    expect([first.status, first.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    expect(first.json()).toEqual({ settings: { allow: [1, null, 'x'], model: { name: 'large' } } });
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    const etag = first.headers.get('etag') ?? '';
    const again = await call('GET', path, { ...bearer, ...beta, 'if-none-match': etag });
    expect([again.status, again.text]).toEqual([304, '']);
    await server.managedSettings.set(organizationId, 'model', 'small');
    const changed = await call('GET', path, { ...bearer, ...beta, 'if-none-match': etag });
    expect([changed.status, changed.json()]).toMatchObject([200, { settings: { model: 'small' } }]);
  });

  test('an organization has a thousand at most', async () => {
    await using opened = await open();
    const { server, organizationId, store } = opened;
    const insert = store.db.prepare('INSERT INTO organization_setting VALUES (?, ?, ?)');
    for (let count = 0; count < 1000; count += 1) insert.run(organizationId, `n${count}`, '1');
    await expect(server.managedSettings.set(organizationId, 'more', 1)).rejects.toMatchObject({
      code: 'conflict',
    });
    await server.managedSettings.set(organizationId, 'n7', 2);
    expect(await server.managedSettings.of(organizationId)).toMatchObject({ n7: 2, n8: 1 });
  });
});
