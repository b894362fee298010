import { createClient, undiciTransport } from '@sallyport/core/client';
import type { AuthorizationServer } from '@sallyport/oauth/server';
import { expect, onTestFinished, test } from 'vitest';
import { withAuthorizationServer } from '../../src/admin/authorization.ts';
import { runGateway } from '../oauth/running-gateway.ts';
import { runBridge } from './run-bridge.ts';

/** A bridge of a member, by a key, that waits for work on a gateway as it is run. */
async function openBridge() {
  const gateway = await runGateway();
  const { url: baseUrl, dataDir } = gateway;
  const transport = undiciTransport();
  onTestFinished(async () => {
    await gateway.close();
    await transport.close();
  });
  const { key, ...owner } = await withAuthorizationServer(
    { dataDir },
    async ({ accounts, organizations, apiKeys }) => {
      const { id: accountId } = await accounts.add({ email: 'ann@example.com' });
      const [membership] = await organizations.of(accountId);
      const ann = { accountId, organizationId: membership!.organization.id };
      return { ...ann, key: await apiKeys.create({ ...ann, scopes: ['vendor_api'], isApiKey: false }, {}) };
    },
  );
  const tokens = { token: () => Promise.resolve(key) };
  const client = createClient({ baseUrl, transport, tokens });
  let trusted = 0;
  const bridge = runBridge({
    baseUrl,
    transport,
    tokens,
    deviceToken: {
      token: () => {
        trusted += 1;
        return client.devices.trust({ body: { display_name: 'laptop' } });
      },
    },
    run: 'true',
  });
  await bridge.until('polling');
  return { bridge, client, dataDir, owner, trusted: () => trusted };
}

type Loss = (
  owner: { readonly accountId: string; readonly organizationId: string },
  server: AuthorizationServer,
) => unknown;

test.each([
  [
    'who is a viewer by now waits for a permission',
    'refused',
    ({ accountId, organizationId }, { members }) => members.changeRole(accountId, organizationId, 'viewer'),
    { code: 'forbidden', details: { permission: 'write' } },
  ],
  [
    'who is no member any more waits for a login',
    'login_required',
    ({ accountId, organizationId }, { members }) => members.leave(accountId, organizationId),
    { code: 'invalid_token' },
  ],
] as const satisfies [string, string, Loss, object][])(
  '%s: the poll that is held ends, and no other device is trusted',
  async (_, state, lose, error) => {
    const { bridge, dataDir, owner, trusted } = await openBridge();
    await withAuthorizationServer({ dataDir }, async (server) => {
      await lose(owner, server);
    });
    // Were it held on, it would be for 25 s.
    expect(await bridge.until(state)).toMatchObject({ error });
    expect(trusted()).toBe(1);
    bridge.stop();
    await bridge.result;
  },
);

test('whose device is revoked ends at once, poll and all, and trusts no other device by itself', async () => {
  const { bridge, client, trusted } = await openBridge();
  const { trusted_devices: devices } = await client.devices.list();
  expect(devices).toHaveLength(1);
  for (const { id } of devices) await client.devices.revoke({ params: { device_id: id } });
  expect(await bridge.result).toEqual({ reason: 'device_revoked', killed: false });
  expect(bridge.events.map(({ type }) => type)).not.toContain('login_required');
  expect(trusted()).toBe(1);
});
