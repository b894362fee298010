import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { ServiceError } from '@sallyport/core';
import { endpoints } from '@sallyport/core/contract';
import { ManualClock } from '@sallyport/core/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pastBeta, pathWithin, reachedHandlers, tokens } from '../../test/every-row.ts';
import { serve, testAuthenticator, type ServedApp } from '../../test/serve.ts';
import type { Authenticator } from './handler.ts';

let isRevoked = false;
/** Of a kind of credential, as long as it stands. */
const standing =
  <Found>(find: (token: string) => Promise<Found>) =>
  (token: string): Promise<Found> =>
    isRevoked ? Promise.reject(new ServiceError('invalid_token', 'It was revoked.')) : find(token);
const authenticator: Authenticator = {
  accessToken: standing((token) => testAuthenticator.accessToken(token)),
  sessionKey: standing((token) => testAuthenticator.sessionKey(token)),
  ingress: standing((token) => testAuthenticator.ingress(token)),
};

const clock = new ManualClock();
let served: ServedApp;
beforeAll(async () => void (served = await serve({ handlers: reachedHandlers, authenticator }, { clock })));
afterAll(() => served.close());

/** Multipart is read by its handler: the tests of feedback have it. */
const rows = endpoints.filter(
  ({ auth, body, encodings }) =>
    auth !== 'none' && auth !== 'optional' && body !== undefined && !encodings?.includes('multipart'),
);

test.each(rows)('$id is refused to whose credential ended while the body came in', async (endpoint) => {
  isRevoked = false;
  const call = httpRequest(served.url + pathWithin(endpoint), {
    method: endpoint.method,
    headers: {
      ...pastBeta(endpoint),
      authorization: `Bearer ${tokens[endpoint.auth] ?? ''}`,
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
});
