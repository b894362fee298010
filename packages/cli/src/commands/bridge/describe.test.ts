import { ServiceError } from '@sallyport/core';
import { LoginError } from '@sallyport/oauth';
import { expect, test } from 'vitest';
import { describeRuntimeEvent } from './describe.ts';

const sequences = '\u001B]0;owned\u0007\u001B[2J';

test.each([
  { type: 'refused', error: new ServiceError('forbidden', `No.${sequences}`), retryInMs: 1000 },
  { type: 'work.skipped', workId: `work${sequences}`, reason: sequences },
  { type: 'session.started', sessionId: `session${sequences}`, workId: 'work' },
] as const)('what the service says cannot steer the terminal: $type', (event) => {
  expect(describeRuntimeEvent(event as Parameters<typeof describeRuntimeEvent>[0])).not.toMatch(/\p{Cc}/u);
});

test('a directory that gets another environment than it had is told which it had', () => {
  const registered = { type: 'registered', environmentId: 'env_2', resumed: false } as const;
  expect(describeRuntimeEvent(registered)).toBe('Registered as environment env_2.');
  expect(describeRuntimeEvent({ ...registered, instead: 'env_1' })).toMatch(
    /does not have env_1, .* deleted .* Registered as environment env_2, a new one\.$/,
  );
});

test.each([
  [
    new ServiceError('invalid_token', 'No.'),
    /^The login has ended: run `sallyport login`, and the bridge goes on/,
  ],
  [new LoginError('token_refused', 'The token.'), /^The token\. Set it to a valid token/],
  [
    new LoginError('other_organization', 'It is not for a.'),
    /^It is not for a\. Log in again for .*goes on by itself then\./,
  ],
])('what a person can do about the login is said by the kind of its end: %s', (error, words) => {
  expect(describeRuntimeEvent({ type: 'login_required', error, retryInMs: 1000 })).toMatch(words);
});

test('the login to make anew is the one that the bridge was started with', () => {
  const event = { type: 'login_required', error: new Error('No.'), retryInMs: 1000 } as const;
  expect(describeRuntimeEvent(event, { profile: 'old' })).toContain('run `sallyport login --profile old`,');
});

test('only where sessions run it is said what becomes of them', () => {
  expect(describeRuntimeEvent({ type: 'stopping', sessions: 0 })).toBe(
    'Stopping; press Ctrl-C again to end at once.',
  );
  expect(describeRuntimeEvent({ type: 'stopping', sessions: 2 })).toMatch(
    /^Stopping: sessions end gracefully;/,
  );
});
