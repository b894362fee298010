import { ServiceError } from '@sallyport/core';
import { contract } from '@sallyport/core/contract';
import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../store/scratch.ts';
import { testAuthenticator } from '../serve.ts';
import { slowCall } from '../slow-call.ts';
import { outboxes, own } from './outbox-harness.ts';
import { scriptedUpstream } from './scripted-upstream.ts';
import { through } from './through.ts';

const open = outboxes();

// What is not waited for is on its way as it comes: its caller was looked at when it began.
test.each([
  { endpoint: contract.telemetry.batch, validation: 'off' },
  { endpoint: contract.telemetry.logs, validation: 'off' },
  { endpoint: contract.sessions.create, validation: 'enforce' },
] as const)(
  'of $endpoint.id: what is waited for whole goes nowhere if its caller lost its credential meanwhile',
  async ({ endpoint, validation }) => {
    await using upstream = await scriptedUpstream();
    const clock = new ManualClock(Date.now());
    let isRevoked = false;
    const authenticator = {
      ...testAuthenticator,
      accessToken: (token: string) =>
        isRevoked
          ? Promise.reject(new ServiceError('invalid_token', 'It was revoked.'))
          : testAuthenticator.accessToken(token),
    };
    const { outbox, count } = await open(upstream);
    const flags = { ...own, dataDir: scratchDirectory(), 'upstream.validation': validation };
    await using served = await through(upstream.url, flags, { clock }, { outbox, authenticator });
    const meanwhile = async () => {
      isRevoked = true;
      await clock.advance(1000);
    };
    expect(await slowCall(served.url, endpoint, meanwhile)).toBe(401);
    expect([upstream.seen, count('requests')]).toEqual([[], 0]);
  },
);
