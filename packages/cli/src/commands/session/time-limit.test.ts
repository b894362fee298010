import { expect, test } from 'vitest';
import { testContext } from '../../testing/context.ts';
import { duration } from '../option-values.ts';
import { withinLimit } from './time-limit.ts';

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));

test('what takes too long is left, with exit code 6 and what to do', async () => {
  const { context, clock } = testContext();
  const { signal } = new AbortController();
  const waiting = withinLimit(
    context,
    { limitMs: 90_000, signal, nextStep: () => 'Wait again.' },
    untilAborted,
  );
  const refused = expect(waiting).rejects.toMatchObject({
    code: 'timed_out',
    exitCode: 6,
    message: 'It has not ended within 90 s, and goes on.',
    nextStep: 'Wait again.',
  });
  await clock.advance(90_000);
  await refused;
  expect(clock.timers).toBe(0);
});

test('who interrupts it, and what fails by itself, is told so', async () => {
  const { context, clock } = testContext();
  const interrupt = new AbortController();
  const options = { limitMs: 90_000, signal: interrupt.signal, nextStep: () => '' };
  const waiting = withinLimit(context, options, untilAborted);
  interrupt.abort();
  await expect(waiting).rejects.toThrow('aborted');
  await expect(withinLimit(context, options, () => Promise.reject(new Error('other')))).rejects.toThrow(
    'other',
  );
  expect(clock.timers).toBe(0);
});

test.each([
  ['90', 90_000],
  ['90s', 90_000],
  ['5m', 300_000],
  ['1h30m', 5_400_000],
  ['2w', 1_209_600_000],
])('%s is a time', (text, ms) => {
  expect(duration(text)).toBe(ms);
});

test.each(['', '0', '0s', '5x', 's', '-1', '1.5h', '5m1h', '5m 3s', 'soon'])('%j is none', (text) => {
  expect(() => duration(text)).toThrow('90s, 5m, 1h30m or 30d');
});
