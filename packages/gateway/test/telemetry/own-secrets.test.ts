import { createRedactor } from '@sallyport/telemetry';
import { expect, test } from 'vitest';
import { clientId, openServer } from '../oauth/open-server.ts';

test('whatever the service gives out as a secret is hidden, though nothing beside it says what it is', async () => {
  const { server, sessionKey, owner, organizationId, code, exchange } = await openServer();
  const { apiKeys, trustedDevices, accounts, deviceFlow } = server;
  const of = { accountId: owner.accountId, organizationId };
  const tokens = await exchange(await code());
  const secrets = {
    sessionKey,
    code: await code(),
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token ?? '',
    deviceCode: (await deviceFlow.start({ client_id: clientId }, '192.0.2.1')).device_code,
    apiKey: await apiKeys.create({ ...of, scopes: ['vendor_api'], isApiKey: false }, { name: 'build' }),
    device: await trustedDevices.trust(of, 'laptop'),
    setup: new URL((await accounts.setupLink(owner.accountId)).url).searchParams.get('token') ?? '',
  };
  const redactor = createRedactor();
  const shown = Object.entries(secrets).map(([kind, secret]) => [
    kind,
    redactor.text(`it is ${secret} here`),
  ]);
  expect(shown).toEqual(Object.keys(secrets).map((kind) => [kind, 'it is [redacted] here']));
});
