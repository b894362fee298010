import { expect, onTestFinished, test } from 'vitest';
import { runGateway } from './running-gateway.ts';

/** Starts a device login as seen through a proxy, which says whom it was asked by. */
async function open(trustProxy: boolean) {
  const gateway = await runGateway({ trustProxy, 'oauth.maxPendingDeviceCodes': 1 });
  onTestFinished(() => gateway.close());
  return async (forwardedFor: string) => {
    const answer = await fetch(`${gateway.url}/v1/oauth/device_authorization`, {
      method: 'POST',
      headers: { 'x-forwarded-for': forwardedFor },
      body: new URLSearchParams({ client_id: gateway.clientId }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
}

test('limits count by the address that the proxy in front saw, whatever its caller had claimed before', async () => {
  const start = await open(true);
  expect(await start('203.0.113.1')).toBe(200);
  expect(await start('203.0.113.1')).toBe(429);
  expect(await start('203.0.113.2')).toBe(200);
  expect(await start('198.51.100.7, 203.0.113.1')).toBe(429);
});

test('where no proxy is said to be in front, what a caller says of its address counts for nothing', async () => {
  const start = await open(false);
  expect(await start('203.0.113.1')).toBe(200);
  expect(await start('203.0.113.2')).toBe(429);
});

test('requests without a credential count by the address; of IPv6 by its network', async () => {
  const gateway = await runGateway({
    trustProxy: true,
    rateLimits: { default: 600, 'account.bootstrap': 1 },
  });
  onTestFinished(() => gateway.close());
  const ask = async (forwardedFor: string) => {
    const answer = await fetch(`${gateway.url}/api/bootstrap`, {
      headers: { 'x-forwarded-for': forwardedFor },
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  const addresses = ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1', '203.0.113.1', '203.0.113.2'];
  const statuses: number[] = [];
  for (const address of addresses) statuses.push(await ask(address));
  expect(statuses).toEqual([200, 429, 200, 200, 200]);
});
