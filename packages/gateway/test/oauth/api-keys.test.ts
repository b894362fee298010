import { describe, expect, test } from 'vitest';
import { openServer, refusal, type TestServer } from './open-server.ts';
import { openOverHttp } from './over-http.ts';

type Input = Parameters<TestServer['server']['apiKeys']['create']>[1];

async function open() {
  const opened = await openServer();
  const { server, owner, organizationId } = opened;
  const mine = { accountId: owner.accountId, organizationId };
  const create = (input: Input = {}, scopes = ['openid', 'profile', 'email', 'vendor_api']) =>
    server.apiKeys.create({ ...mine, scopes, isApiKey: false }, input);
  return { ...opened, mine, create, apiKeys: server.apiKeys };
}

describe('an API key', () => {
  test('is sk- with 32 random bytes and a checksum, and stands for its account in its organization', async () => {
    const { create, apiKeys, mine } = await open();
    const key = await create({ name: 'ci' });
    expect(key).toMatch(/^sk-[\w-]{48}$/);
    expect(await create()).not.toBe(key);
    expect(await apiKeys.verify(key)).toMatchObject({
      ...mine,
      role: 'admin',
      permissions: ['read', 'write', 'manage_projects'],
      scopes: ['profile', 'vendor_api'],
    });
  });

  test('with a slip of the pen is refused without a look into the store', async () => {
    const { create, apiKeys, store } = await open();
    const key = await create();
    let reads = 0;
    const read = store.reads.apiKey.bind(store.reads);
    store.reads.apiKey = async (argument) => {
      reads += 1;
      return read(argument);
    };
    const last = key.endsWith('A') ? 'B' : 'A';
    const slips = [key.slice(0, -1) + last, `${key}=`, `${key}A`, key.slice(0, -4), 'sk-', `${key} `];
    for (const slip of slips) expect(await refusal(apiKeys.verify(slip))).toBe('invalid_token');
    expect(reads).toBe(0);
    await apiKeys.verify(key);
    expect(reads).toBe(1);
  });

  test('has no more scope than its maker, nor what only a login has', async () => {
    const { create, apiKeys } = await open();
    expect(await refusal(create({ scope: 'vendor_api email' }))).toBe('invalid_scope');
    expect(await refusal(create({ scope: 'profile' }, ['vendor_api']))).toBe('invalid_scope');
    expect(await refusal(create({ scope: 'everything' }))).toBe('invalid_scope');
    await expect(create({ scope: 'everything' }, ['profile', 'vendor_api', 'email'])).rejects.toThrow(
      'The scope exceeds what a key of this login may have: profile vendor_api.',
    );
    const narrow = await create({}, ['vendor_api', 'email']);
    expect((await apiKeys.verify(narrow)).scopes).toEqual(['vendor_api']);
    const chosen = await create({ scope: 'profile' });
    expect((await apiKeys.verify(chosen)).scopes).toEqual(['profile']);
  });

  test('makes no other key', async () => {
    const { apiKeys, mine } = await open();
    const create = apiKeys.create({ ...mine, scopes: ['vendor_api'], isApiKey: true }, {});
    expect(await refusal(create)).toBe('forbidden');
  });

  test('ends when it was said to', async () => {
    const { create, apiKeys, mine, clock } = await open();
    const key = await create({ expiresInSeconds: 60 });
    clock.jump(59_999);
    expect(await refusal(apiKeys.verify(key))).toBe(undefined);
    clock.jump(1);
    expect(await refusal(apiKeys.verify(key))).toBe('invalid_token');
    expect(await apiKeys.list(mine)).toEqual([]);
  });

  test('has the role of today, and ends with the membership', async () => {
    const { create, apiKeys, store } = await open();
    const key = await create();
    store.db.exec("UPDATE membership SET role = 'viewer'");
    expect(await apiKeys.verify(key)).toMatchObject({ role: 'viewer', permissions: ['read'] });
    store.db.exec('DELETE FROM membership');
    expect(await refusal(apiKeys.verify(key))).toBe('invalid_token');
  });

  test('is not made by who has just left the organization, nor a device trusted, for the day that they come back', async () => {
    const { server, owner, organizationId } = await openServer();
    await server.accounts.add({ email: 'ann@example.com', role: 'admin' });
    const mine = { accountId: owner.accountId, organizationId };
    await server.members.leave(owner.accountId, organizationId);
    // The calls were admitted before that.
    const key = server.apiKeys.create({ ...mine, scopes: ['vendor_api'], isApiKey: false }, {});
    expect(await refusal(key)).toBe('invalid_token');
    expect(await refusal(server.trustedDevices.trust(mine, 'laptop'))).toBe('invalid_token');
    await server.members.setRole(owner.accountId, organizationId, 'member');
    expect(await server.apiKeys.list(mine)).toEqual([]);
    expect(await server.trustedDevices.list(mine)).toEqual([]);
  });

  test('tells to the minute when it was used', async () => {
    const { create, apiKeys, mine, clock } = await open();
    const key = await create();
    const lastUse = async () => (await apiKeys.list(mine))[0]?.lastUsedAt;
    expect(await lastUse()).toBe(null);
    await apiKeys.verify(key);
    const first = clock.now();
    await expect.poll(lastUse).toBe(first);
    clock.jump(59_999);
    await apiKeys.verify(key);
    expect(await lastUse()).toBe(first);
    clock.jump(1);
    await apiKeys.verify(key);
    await expect.poll(lastUse).toBe(first + 60_000);
  });

  test('works though its last use cannot be written', async () => {
    const { create, apiKeys, store, warnings } = await open();
    const key = await create();
    store.acts.touchApiKey = () => Promise.reject(new Error('disk full'));
    expect(await refusal(apiKeys.verify(key))).toBe(undefined);
    await expect.poll(() => warnings).toEqual(['the last use of an API key was not written']);
  });

  test('is listed and revoked by its owner in its organization alone', async () => {
    const { server, create, apiKeys, mine, clock } = await open();
    const key = await create({ name: 'old' });
    clock.jump(1);
    await create({ name: 'new' });
    const listed = await apiKeys.list(mine);
    expect(listed.map(({ name }) => name)).toEqual(['new', 'old']);
    const ann = await server.accounts.add({ email: 'ann@example.com', role: 'admin' });
    const other = await server.organizations.add({ name: 'Other' });
    const { keyId } = await apiKeys.verify(key);
    for (const stranger of [
      { ...mine, accountId: ann.id },
      { ...mine, organizationId: other.id },
    ]) {
      expect(await apiKeys.list(stranger)).toEqual([]);
      expect(await refusal(apiKeys.revoke(keyId, stranger))).toBe('not_found');
    }
    await apiKeys.revoke(keyId, mine);
    await apiKeys.revoke(keyId, mine); // a retry
    expect(await refusal(apiKeys.verify(key))).toBe('invalid_token');
    expect(await apiKeys.list(mine)).toMatchObject([{ name: 'new' }]);
  });

  test('is swept once it is long expired or revoked', async () => {
    const { server, create, clock, store, apiKeys, mine } = await open();
    await create();
    await create({ expiresInSeconds: 1 });
    const { keyId } = await apiKeys.verify(await create());
    await apiKeys.revoke(keyId, mine);
    clock.jump(2 * 3600_000);
    await server.sweep();
    expect(store.db.prepare('SELECT count(*) AS n FROM api_key').get()?.['n']).toBe(1);
  });
});

describe('over HTTP', () => {
  test('a key is made once, used as bearer and as x-api-key, listed and revoked', async () => {
    await using opened = await openOverHttp();
    const { call, login, organizationId } = opened;
    const { access_token: token } = await login();
    const bearer = { authorization: `Bearer ${token}` };
    const made = await call('POST', '/api/oauth/agent_cli/create_api_key', bearer, { name: ' ci ' });
    expect([made.status, made.headers.get('content-type'), made.headers.get('cache-control')]).toEqual([
      200,
      'text/plain; charset=utf-8',
      'no-store',
    ]);
    const key = made.text;
    expect(key).toMatch(/^sk-[\w-]{48}$/);
    const nameless = await call('POST', '/api/oauth/agent_cli/create_api_key', bearer);
    expect(nameless.status).toBe(200);

    for (const headers of [{ authorization: `Bearer ${key}` }, { 'x-api-key': key }]) {
      const profile = await call('GET', '/api/oauth/profile', headers);
      expect(profile.json()).toMatchObject({ organization: { uuid: organizationId } });
      const another = await call('POST', '/api/oauth/agent_cli/create_api_key', headers);
      expect([another.status, another.json()]).toMatchObject([403, { error: 'forbidden' }]);
    }

    const listed = await call('GET', '/api/oauth/agent_cli/api_keys', bearer);
    expect(listed.text).not.toContain(key.slice(3));
    const { api_keys: keys } = listed.json() as { api_keys: { id: string; name: string | null }[] };
    expect(keys.map(({ name }) => name).sort()).toEqual(['ci', null].sort());
    const id = keys.find(({ name }) => name === 'ci')?.id ?? '';
    expect(keys.find((one) => one.id === id)).toMatchObject({
      scope: 'profile vendor_api',
      expires_at: null,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    });
    const revoked = await call('DELETE', `/api/oauth/agent_cli/api_keys/${id}`, bearer);
    expect([revoked.status, revoked.json()]).toEqual([200, { id, deleted: true }]);
    const refused = await call('GET', '/api/oauth/profile', { 'x-api-key': key });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('error="invalid_token"'),
    ]);
    const unknown = await call('DELETE', '/api/oauth/agent_cli/api_keys/none', bearer);
    expect([unknown.status, unknown.json()]).toMatchObject([404, { error: 'not_found' }]);
  });

  test.each([{ name: '' }, { name: 'a\nb' }, { name: 'x'.repeat(129) }, { name: 5 }, { expires_in: 0 }])(
    '%j is a bad request',
    async (body) => {
      await using opened = await openOverHttp();
      const { access_token: token } = await opened.login();
      const headers = { authorization: `Bearer ${token}` };
      const made = await opened.call('POST', '/api/oauth/agent_cli/create_api_key', headers, body);
      expect([made.status, made.json()]).toMatchObject([400, { error: 'invalid_request' }]);
    },
  );
});
