import { ServiceError, TransportError } from '@sallyport/core';
import { expect, test } from 'vitest';
import { judgeStepFailure, judgeStreamEnd } from './link-judgement.ts';

const over = { kind: 'gone', reason: 'session_ended' };

test.each([
  [4410, undefined, over],
  [4090, undefined, { kind: 'doubt' }],
  [4403, undefined, { kind: 'doubt' }],
  [4401, undefined, { kind: 'expired' }],
  [1012, 700, { kind: 'retry', step: 'connect', drainMs: 700 }],
  [1012, 0, { kind: 'retry', step: 'connect' }],
  [1012, undefined, { kind: 'retry', step: 'connect' }],
  [1006, 700, { kind: 'retry', step: 'connect' }],
  [4408, undefined, { kind: 'retry', step: 'connect' }],
  [1000, undefined, { kind: 'retry', step: 'connect' }],
])('a stream that ends with %i (draining: %s)', (code, drainMs, judgement) => {
  expect(judgeStreamEnd({ code, reason: '' }, drainMs)).toEqual(judgement);
});

const refusal = (code: string, status: number) => new ServiceError(code, 'No.', { status });
const ended = Object.assign(new Error('There is no login.'), { code: 'login_required' });

test.each([
  ['handshake', refusal('not_found', 404), over],
  ['doubt', refusal('session_ended', 409), over],
  ['connect', refusal('stale_epoch', 409), { kind: 'doubt' }],
  ['handshake', refusal('stale_epoch', 409), { kind: 'doubt' }],
  ['handshake', refusal('conflict', 409), { kind: 'retry', step: 'handshake' }],
  ['connect', refusal('invalid_token', 401), { kind: 'expired' }],
  ['handshake', refusal('device_revoked', 401), { kind: 'retry', step: 'handshake', waitMs: 60_000 }],
  ['handshake', refusal('invalid_token', 401), { kind: 'retry', step: 'handshake', waitMs: 300_000 }],
  ['doubt', ended, { kind: 'retry', step: 'doubt', waitMs: 300_000 }],
  ['handshake', refusal('forbidden', 403), { kind: 'retry', step: 'handshake', waitMs: 60_000 }],
  ['connect', new TransportError('unreachable', 'No.'), { kind: 'retry', step: 'connect' }],
  ['doubt', new TypeError('odd'), { kind: 'retry', step: 'doubt' }],
  [
    'handshake',
    new ServiceError('overloaded', 'No.', { retryAfterMs: 7_000 }),
    { kind: 'retry', step: 'handshake', retryAfterMs: 7_000 },
  ],
] as const)('a failure of "%s": %s', (step, error, judgement) => {
  expect(judgeStepFailure(error, step)).toEqual(judgement);
});
