import { ServiceError } from '@sallyport/core';
import { expect, test } from 'vitest';
import { openOverHttp } from './over-http.ts';

test('trusted devices are listed and revoked over HTTP', async () => {
  await using opened = await openOverHttp();
  const { call, server, owner, organizationId } = opened;
  const bearer = { authorization: `Bearer ${(await opened.login()).access_token}` };
  const path = '/api/auth/trusted_devices';
  const trusted = await call('POST', path, bearer, { display_name: 'laptop' });
  const listed = await call('GET', path, bearer);
  const { trusted_devices: devices } = listed.json() as { trusted_devices: { id: string }[] };
  expect(devices).toEqual([
    {
      id: expect.any(String) as string,
      display_name: 'laptop',
      created_at: expect.stringMatching(/Z$/) as string,
      last_used_at: null,
    },
  ]);
  expect(listed.text).not.toContain(trusted.text);

  // A colleague sees none of it, and revokes nothing.
  const colleague = await server.accounts.add({ email: 'ann@example.com', role: 'admin' });
  const key = await server.apiKeys.create(
    { accountId: colleague.id, organizationId, scopes: ['vendor_api'], isApiKey: false },
    {},
  );
  expect((await call('GET', path, { 'x-api-key': key })).json()).toEqual({ trusted_devices: [] });
  const id = devices[0]?.id ?? '';
  expect((await call('DELETE', `${path}/${id}`, { 'x-api-key': key })).status).toBe(404);

  for (const _again of [1, 2]) {
    const revoked = await call('DELETE', `${path}/${id}`, bearer);
    expect([revoked.status, revoked.json()]).toEqual([200, { id, deleted: true }]);
  }
  expect((await call('GET', path, bearer)).json()).toEqual({ trusted_devices: [] });
  const check = server.trustedDevices.check(trusted.text, { accountId: owner.accountId, organizationId });
  await expect(check).rejects.toMatchObject({ code: 'device_revoked', status: 401 });
});

test('an account has no more devices, and no more keys, than a list of them shows', async () => {
  await using opened = await openOverHttp();
  const { server, owner, organizationId } = opened;
  const holder = { accountId: owner.accountId, organizationId };
  const creator = { ...holder, scopes: ['vendor_api'], isApiKey: false };
  const adds = {
    trusted_devices: () => server.trustedDevices.trust(holder, 'laptop'),
    api_keys: () => server.apiKeys.create(creator, {}),
  };
  for (const [quota, add] of Object.entries(adds)) {
    const settled = await Promise.allSettled(Array.from({ length: 1001 }, add));
    const refused = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    expect(refused).toEqual([expect.any(ServiceError)]);
    expect(refused[0]).toMatchObject({ code: 'quota_exceeded', details: { quota, limit: 1000 } });
  }
  const [device] = await server.trustedDevices.list(holder);
  await server.trustedDevices.revoke(device?.id ?? '', holder);
  await expect(adds.trusted_devices()).resolves.toMatch(/./);
});
