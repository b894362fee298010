import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { lastWordMs, watchInterrupts } from './interrupt.ts';

test('whose terminal is gone cannot insist: that is done for them, once', async () => {
  const clock = new ManualClock();
  const interrupt = watchInterrupts(clock);
  const { asked, insisted } = interrupt;
  process.emit('SIGHUP');
  // The kernel, the shell, and the end of the terminal's input say the same thing.
  process.emit('SIGHUP');
  expect([asked.aborted, insisted.aborted]).toEqual([true, false]);
  await clock.advance(lastWordMs - 1);
  expect(insisted.aborted).toBe(false);
  await clock.advance(1);
  expect(insisted.aborted).toBe(true);
  interrupt.release();
});

test('who asked before the terminal went has insisted by that', () => {
  const interrupt = watchInterrupts(new ManualClock());
  const { asked, insisted } = interrupt;
  process.emit('SIGINT');
  expect([asked.aborted, insisted.aborted]).toEqual([true, false]);
  process.emit('SIGHUP');
  expect(insisted.aborted).toBe(true);
  interrupt.release();
});

test.each(['SIGINT', 'SIGTERM'] as const)(
  'a %s that comes twice at once, as from `timeout` and from npm, asks; a later one insists',
  async (signal) => {
    const clock = new ManualClock();
    const interrupt = watchInterrupts(clock);
    const { asked, insisted } = interrupt;
    process.emit(signal, signal);
    process.emit(signal, signal);
    expect([asked.aborted, insisted.aborted]).toEqual([true, false]);
    await clock.advance(1_000);
    process.emit(signal, signal);
    expect(insisted.aborted).toBe(true);
    interrupt.release();
  },
);

test('a program that ends this one waits for nothing that does not come; a person decides for themselves', async () => {
  for (const [signal, isLimited] of [
    ['SIGTERM', true],
    ['SIGINT', false],
  ] as const) {
    const clock = new ManualClock();
    const interrupt = watchInterrupts(clock);
    process.emit(signal, signal);
    await clock.advance(lastWordMs);
    expect(interrupt.insisted.aborted).toBe(isLimited);
    interrupt.release();
  }
});
