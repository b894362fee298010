import { expect, test } from 'vitest';
import { Coalesced } from './coalesced.ts';

test('runs once more for whatever is asked meanwhile, and loses nothing that is asked at the very end', async () => {
  let runs = 0;
  let atOnce = 0;
  class Counting extends Coalesced {
    protected async act(): Promise<void> {
      expect(++atOnce).toBe(1);
      await Promise.resolve();
      atOnce--;
      runs++;
    }
  }
  const counting = new Counting();
  const run = () => counting.run();
  await Promise.all([run(), run(), run()]);
  expect(runs).toBe(2);
  // Asked at each of the microtasks around the end, one by one.
  for (let turns = 0; turns < 8; turns++) {
    const before = runs;
    const first = run();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    await run();
    await first;
    expect(runs - before).toBe(2);
  }
});
