import { ManualClock, seededRandom } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { Backoff } from './backoff.ts';

const most = { fraction: () => 0.999_999, bytes: () => new Uint8Array() };

test('grows to a minute, never beyond, and is spread over the whole of it', () => {
  const backoff = new Backoff({ clock: new ManualClock(), random: most });
  const pauses = Array.from({ length: 10 }, () => Math.round(backoff.next()));
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000]);
  const spread = new Backoff({ clock: new ManualClock(), random: seededRandom() });
  const late = Array.from({ length: 500 }, () => spread.next()).slice(10);
  expect(Math.min(...late)).toBeLessThan(6_000);
  expect(Math.max(...late)).toBeGreaterThan(54_000);
});

test('starts over only after a link that was healthy for a minute', async () => {
  const clock = new ManualClock();
  const backoff = new Backoff({ clock, random: most });
  for (let n = 0; n < 5; n += 1) backoff.next();
  backoff.succeeded();
  await clock.advance(59_000);
  expect(Math.round(backoff.next())).toBe(32_000);
  backoff.succeeded();
  await clock.advance(60_000);
  expect(Math.round(backoff.next())).toBe(5_000);
  expect(Math.round(backoff.next())).toBe(1_000);
});

test('waits as long as the service asks, up to five minutes and a fifth', () => {
  const backoff = new Backoff({ clock: new ManualClock(), random: most });
  expect(Math.round(backoff.next(3_000))).toBe(3_600);
  expect(Math.round(backoff.next(3_600_000))).toBe(360_000);
  // By that it grew no slower.
  expect(Math.round(backoff.next())).toBe(1_000);
});

test('waits as long as a service that drains asks the first time, and longer each time that it drains on', async () => {
  const clock = new ManualClock();
  const backoff = new Backoff({ clock, random: most });
  const pauses: number[] = [];
  for (let n = 0; n < 8; n += 1) {
    backoff.succeeded();
    pauses.push(Math.round(backoff.afterDraining(10)));
  }
  expect(pauses).toEqual([10, 1010, 2010, 4010, 8010, 16_010, 32_010, 60_010]);
  backoff.succeeded();
  await clock.advance(60_000);
  expect(backoff.afterDraining(3_600_000)).toBe(300_000);
});
