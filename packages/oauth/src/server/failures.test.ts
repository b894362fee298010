import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { createFailures } from './failures.ts';

test('blocks a key at its limit until the window of its first failure ends', async () => {
  const clock = new ManualClock();
  const failures = createFailures(clock, 2, 1000);
  failures.count('a');
  await clock.advance(400);
  expect(failures.blockedMs('a')).toBe(undefined);
  failures.count('a');
  expect([failures.blockedMs('a'), failures.blockedMs('b')]).toEqual([600, undefined]);
  clock.jump(-3600_000);
  expect(failures.blockedMs('a')).toBe(600);
  await clock.advance(600);
  expect(failures.blockedMs('a')).toBe(undefined);
});

test('takes back and forgets', () => {
  const failures = createFailures(new ManualClock(), 1, 1000);
  failures.count('a');
  failures.takeBack('a');
  expect(failures.blockedMs('a')).toBe(undefined);
  failures.count('a');
  failures.forget('a');
  expect(failures.blockedMs('a')).toBe(undefined);
});

test('tells once a window which failure reached the limit; tries that were none do not count', async () => {
  const clock = new ManualClock();
  const failures = createFailures(clock, 2, 1000);
  const fail = () => {
    failures.count('a');
    return failures.confirm('a');
  };
  const inParallel = ['right', 'wrong', 'wrong'];
  for (const _ of inParallel) failures.count('a');
  failures.takeBack('a');
  await clock.advance(100);
  expect([failures.confirm('a'), failures.confirm('a'), fail()]).toEqual([undefined, 900, undefined]);
  await clock.advance(900);
  expect([failures.confirm('a'), fail(), fail(), fail()]).toEqual([undefined, undefined, 1000, undefined]);
});

test('forgets the oldest keys before it grows without bound', () => {
  const failures = createFailures(new ManualClock(), 1, 1000);
  failures.count('first');
  for (let count = 0; count < 10_000; count += 1) failures.count(`key ${count}`);
  expect([failures.blockedMs('first'), failures.blockedMs('key 9999')]).toEqual([undefined, 1000]);
});
