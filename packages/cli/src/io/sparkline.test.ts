import { expect, test } from 'vitest';
import { fitting, sparkline } from './sparkline.ts';

test('the largest count has the highest bar, and one among many is still seen', () => {
  expect(sparkline([0, 1, 4, 8])).toBe(' ▁▄█');
  expect(sparkline([1_000_000, 1, 0])).toBe('█▁ ');
  expect(sparkline([3, 3])).toBe('██');
  expect(sparkline([0, 0])).toBe('  ');
  expect(sparkline([])).toBe('');
});

test('where there is less room neighbours are one bar, and none is lost', () => {
  expect(fitting([1, 2, 3, 4, 5], 5)).toEqual([1, 2, 3, 4, 5]);
  expect(fitting([1, 2, 3, 4, 5], Infinity)).toEqual([1, 2, 3, 4, 5]);
  expect(fitting([1, 2, 3, 4, 5], 4)).toEqual([1, 5, 9]);
  expect(fitting([1, 2, 3, 4, 5], 1)).toEqual([15]);
  expect(fitting([1, 2], 0)).toEqual([3]);
  expect(fitting([], 10)).toEqual([]);
});
