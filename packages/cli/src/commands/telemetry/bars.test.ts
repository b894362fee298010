import { expect, test } from 'vitest';
import { bars } from './bars.ts';

const at = '2026-01-01T00:00:00.000Z';
const terminal = (width: number) => ({ style: (_: unknown, text: string) => text, widthOf: () => width });

test.each([
  [Infinity, ['▁▁▃█  at most 8 in one', '   █  errors, at most 1']],
  [15, ['▁▁▃█\nat most 8 in one', '   █\nerrors, at most 1']],
  [3, ['▂█\nat most 11 in one', ' █\nerrors, at most 1']],
])('no line is wider than %d columns, while there is room for the words', (width, lines) => {
  const buckets = [1, 1, 3, 8].map((count) => ({ at, count, errors: count === 8 ? 1 : 0 }));
  expect(bars(buckets, terminal(width))).toEqual(lines);
});
