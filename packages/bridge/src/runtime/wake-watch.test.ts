import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { Pause } from './pause.ts';
import { watchWake } from './wake-watch.ts';

test('a wall clock that ran ahead of the monotonic one means that the machine slept', async () => {
  const clock = new ManualClock();
  const wakes: number[] = [];
  const watch = watchWake(clock, (sleptMs) => wakes.push(sleptMs));
  await clock.advance(60_000);
  clock.jump(9_000);
  await clock.advance(5_000);
  expect(wakes).toEqual([]);
  clock.jump(90_000);
  await clock.advance(5_000);
  expect(wakes).toEqual([90_000]);
  await clock.advance(60_000);
  expect(wakes).toEqual([90_000]);
  watch.cancel();
  expect(clock.timers).toBe(0);
});

test('a long pause ends by the wall clock, soon after the machine woke', async () => {
  const clock = new ManualClock();
  let isOver = false;
  void new Pause(clock).for(300_000).then(() => (isOver = true));
  await clock.advance(60_000);
  expect(isOver).toBe(false);
  clock.jump(3_600_000);
  await clock.advance(60_000);
  expect(isOver).toBe(true);
});
