import { ManualClock } from './testing/index.ts';
import { expect, test } from 'vitest';
import { countSignals } from './count-signals.ts';

test('a signal that comes twice at once is one; a later one, or another, is a second', async () => {
  const clock = new ManualClock();
  const seen: [string, number][] = [];
  const onSignal = countSignals(clock, (...counted) => seen.push(counted));
  onSignal('SIGINT');
  await clock.advance(199);
  onSignal('SIGINT');
  expect(seen).toEqual([['SIGINT', 1]]);
  await clock.advance(1);
  onSignal('SIGINT');
  onSignal('SIGTERM');
  expect(seen.slice(1)).toEqual([
    ['SIGINT', 2],
    ['SIGTERM', 3],
  ]);
});
