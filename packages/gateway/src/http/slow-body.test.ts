import { ServiceError } from '@sallyport/core';
import { endpoints } from '@sallyport/core/contract';
import { ManualClock } from '@sallyport/core/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reachedHandlers } from '../../test/every-row.ts';
import { serve, testAuthenticator, type ServedApp } from '../../test/serve.ts';
import { slowCall } from '../../test/slow-call.ts';
import type { Authenticator } from './callers.ts';

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
  const meanwhile = async () => {
    isRevoked = true;
    await clock.advance(1000);
  };
  expect(await slowCall(served.url, endpoint, meanwhile)).toBe(401);
});
