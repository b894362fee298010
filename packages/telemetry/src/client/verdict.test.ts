import { ServiceError, TransportError, type Issue } from '@sallyport/core';
import { expect, test } from 'vitest';
import { judgeFailure, LoginMissing } from './verdict.ts';

const refusal = (status: number, options: { issues?: Issue[]; retryAfterMs?: number; cause?: Error } = {}) =>
  new ServiceError('any', 'any', { status, ...options });
/** An answer without an error body. */
const bare = (status: number) =>
  refusal(status, { cause: new TransportError('unexpected_answer', 'no error body') });
const issue = (path: string): Issue => ({ path, message: 'bad' });

test.each<[string, unknown, object]>([
  ['no login', new LoginMissing(), { kind: 'wait', ms: 300_000 }],
  ['unreachable', new TransportError('unreachable', 'x'), { kind: 'wait' }],
  ['timeout', new TransportError('timeout', 'x'), { kind: 'wait' }],
  [
    '400 with events',
    refusal(400, { issues: [issue('events/2/body'), issue('events/0'), issue('events/2')] }),
    { kind: 'cut', indexes: new Set([2, 0]) },
  ],
  [
    '400 with an event that was not sent',
    refusal(400, { issues: [issue('events/9/body')] }),
    { kind: 'drop' },
  ],
  ['400 about something else', refusal(400, { issues: [issue('headers/x-service-name')] }), { kind: 'drop' }],
  ['400 without issues', refusal(400), { kind: 'split' }],
  ['401', refusal(401), { kind: 'wait', ms: 300_000 }],
  ['403', refusal(403), { kind: 'disable' }],
  ['404', refusal(404), { kind: 'disable' }],
  ['405', refusal(405), { kind: 'disable' }],
  ['413 without a body', bare(413), { kind: 'split' }],
  ['500 without a body', bare(500), { kind: 'retry' }],
  ['407', refusal(407), { kind: 'wait', ms: 300_000 }],
  ['408', refusal(408), { kind: 'wait' }],
  ['413', refusal(413), { kind: 'split' }],
  ['422', refusal(422), { kind: 'drop' }],
  ['429 with Retry-After', refusal(429, { retryAfterMs: 7000 }), { kind: 'wait', ms: 7000 }],
  ['500', refusal(500), { kind: 'retry' }],
  ['502', refusal(502), { kind: 'wait' }],
  ['503', refusal(503), { kind: 'wait' }],
  ['504', refusal(504), { kind: 'wait' }],
])('%s', (_, error, verdict) => {
  expect(judgeFailure(error, 3)).toEqual(verdict);
});
