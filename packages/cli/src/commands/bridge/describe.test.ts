import { ServiceError } from '@sallyport/core';
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
