import { expect, test } from 'vitest';
import { sparkline } from './sparkline.ts';

test('the largest count has the highest bar, and one among many is still seen', () => {
  expect(sparkline([0, 1, 4, 8])).toBe(' ▁▄█');
  expect(sparkline([1_000_000, 1, 0])).toBe('█▁ ');
  expect(sparkline([3, 3])).toBe('██');
  expect(sparkline([0, 0])).toBe('  ');
  expect(sparkline([])).toBe('');
});
