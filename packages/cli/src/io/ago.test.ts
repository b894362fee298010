import { toTimestamp } from '@sallyport/core';
import { expect, test } from 'vitest';
import { ago } from './ago.ts';

const now = Date.UTC(2026, 5, 1);

test.each([
  [0, 'just now'],
  [-5_000, 'just now'],
  [59_999, 'just now'],
  [60_000, '1 min ago'],
  [3_599_000, '59 min ago'],
  [3_600_000, '1 h ago'],
  [86_400_000, '1 day ago'],
  [30 * 86_400_000, '30 days ago'],
  [31 * 86_400_000, '2026-05-01'],
])('%i ms ago is %s', (ms, said) => {
  expect(ago(toTimestamp(now - ms), now)).toBe(said);
});
