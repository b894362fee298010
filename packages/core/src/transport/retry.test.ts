import { expect, test } from 'vitest';
import { retryAfterMs } from './retry.ts';

const now = Date.UTC(2026, 0, 1);

test.each([
  ['7', 7_000],
  [' 7 ', 7_000],
  [new Date(now + 90_000).toUTCString(), 90_000],
  // Whoever is told to come at once keeps to the pauses of its own: so does one whose clock is ahead.
  ['0', undefined],
  [new Date(now - 90_000).toUTCString(), undefined],
  ['soon', undefined],
  ['-1', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After: %s', (value, ms) => {
  expect(retryAfterMs(value, now)).toBe(ms);
});
