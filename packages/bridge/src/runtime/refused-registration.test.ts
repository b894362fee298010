import { ServiceError } from '@sallyport/core';
import { describe, expect, test } from 'vitest';
import { useBench } from './testing/use-bench.ts';

const { service, startImpatient } = useBench();

describe('a registration that the account may not make', () => {
  /** A source of device tokens, and how many devices it has had trusted. */
  function devices() {
    const trusted = ['device'];
    const deviceToken = {
      token: async ({ forceRefresh = false } = {}) => {
        if (forceRefresh) trusted.push(`device ${trusted.length + 1}`);
        return trusted.at(-1)!;
      },
    };
    return { trusted, deviceToken };
  }
  const forbidden = { status: 403, body: { error: 'forbidden', permission: 'write' } };
  const lacksScope = { status: 403, body: { error: 'insufficient_scope', scope: 'vendor_api' } };
  const issues = [{ path: 'headers/x-trusted-device-token', message: "is another account's" }];
  const foreign = { status: 403, body: { error: 'forbidden', issues } };

  test.each([
    ['for want of a permission', forbidden, 1],
    ['for want of a scope', lacksScope, 1],
    ["for a device of another account, a new one's, too", foreign, 2],
  ])('at the start is an end, %s', async (_, refusal, count) => {
    const { trusted, deviceToken } = devices();
    service.script('register', ...Array.from({ length: 9 }, () => refusal));
    const bench = startImpatient({ run: 'true', deviceToken });
    await expect(bench.result).rejects.toMatchObject({ status: 403, code: refusal.body.error });
    expect(trusted).toHaveLength(count);
    expect(service.calls.all.filter(({ route }) => route === 'register')).toHaveLength(count);
  });

  test('is an end, too, where the source of device tokens says so', async () => {
    const refusal = new ServiceError('quota_exceeded', 'There are too many.');
    const deviceToken = { token: () => Promise.reject(refusal) };
    await expect(startImpatient({ run: 'true', deviceToken }).result).rejects.toBe(refusal);
  });

  test('is waited for where it was before, and no device is trusted for it', async () => {
    const { trusted, deviceToken } = devices();
    const bench = startImpatient({ run: 'true', deviceToken });
    await bench.until('polling');
    service.script('register', ...Array.from({ length: 9 }, () => forbidden));
    service.script('poll', { status: 404, body: { error: 'not_found' } });
    service.grant({});
    await bench.until('registered', 2);
    expect(bench.of('refused')).toMatchObject(Array(9).fill({ retryInMs: 60_000 }));
    expect(trusted).toHaveLength(1);
  });

  test('of another device goes on with a new one', async () => {
    const { trusted, deviceToken } = devices();
    service.script('register', foreign);
    await startImpatient({ run: 'true', deviceToken }).until('registered');
    expect(trusted).toHaveLength(2);
  });
});
