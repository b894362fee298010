import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { ServiceError } from '@sallyport/core';
import { contract } from '@sallyport/core/contract';
import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { pastBeta, pathWithin, tokens } from '../every-row.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { testAuthenticator } from '../serve.ts';
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
    const call = httpRequest(served.url + pathWithin(endpoint), {
      method: endpoint.method,
      headers: {
        ...pastBeta(endpoint),
        authorization: `Bearer ${tokens[endpoint.auth]}`,
        'content-type': 'application/json',
        'content-length': '2',
        expect: '100-continue', // comes when the body is first read: the caller is let in
      },
    });
    call.flushHeaders();
    await once(call, 'continue');
    isRevoked = true;
    await clock.advance(1000);
    call.end('{}');
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(401);
    expect([upstream.seen, count('requests')]).toEqual([[], 0]);
  },
);
