import { expect, test } from 'vitest';
import { testContext } from '../../testing/context.ts';
import { showArrivals } from './arrivals.ts';

const erased = '\r\u001B[K';

test('the last minute is drawn behind a swarm and each second, and taken away at the end', async () => {
  const { context, clock, text } = testContext({ columns: 120 });
  const arrivals = showArrivals(context);
  const drawn = () => text().stderr.split(erased).at(-1);
  expect(drawn()).toBe(`${' '.repeat(60)}  0 in the last minute`);
  for (const severity of [9, 9, 9, 17]) arrivals.count(severity);
  context.terminal.result({ json: 1, human: 'a record' });
  expect(drawn()).toBe('');
  await clock.advance(100);
  expect(drawn()).toBe(`${' '.repeat(59)}█  4 in the last minute, 1 of them errors`);
  await clock.advance(1900);
  arrivals.count(9);
  await clock.advance(100);
  expect(drawn()).toBe(`${' '.repeat(57)}█ ▂  5 in the last minute, 1 of them errors`);
  await clock.advance(59_000);
  expect(drawn()).toBe(`█${' '.repeat(59)}  1 in the last minute`);
  await clock.advance(3_600_000);
  expect(drawn()).toBe(`${' '.repeat(60)}  0 in the last minute`);
  arrivals.end();
  expect(drawn()).toBe('');
  expect(clock.timers).toBe(0);
});

test.each([
  [80, 20, '▄ █'],
  [45, 1, '█'],
])('with %i columns the words are there whole, behind %i bars', async (columns, bars, last) => {
  const { context, clock, text } = testContext({ columns });
  const arrivals = showArrivals(context);
  for (const severity of [9, 17]) arrivals.count(severity);
  await clock.advance(6000);
  for (const severity of [9, 9, 17, 17]) arrivals.count(severity);
  await clock.advance(100);
  const drawn = text().stderr.split(erased).at(-1);
  expect(drawn).toBe(`${last.padStart(bars)}  6 in the last minute, 3 of them errors`);
  arrivals.end();
});

test('nothing is drawn where there is no terminal', async () => {
  const { context, clock, text } = testContext();
  const arrivals = showArrivals(context);
  arrivals.count(9);
  await clock.advance(5000);
  arrivals.end();
  expect(text().stderr).toBe('');
  expect(clock.timers).toBe(0);
});
