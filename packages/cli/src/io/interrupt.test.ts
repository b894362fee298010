import { ManualClock } from '@sallyport/core/testing';
import { expect, test } from 'vitest';
import { hangUpMs, watchInterrupts } from './interrupt.ts';

test('whose terminal is gone cannot insist: that is done for them, once', async () => {
  const clock = new ManualClock();
  const interrupt = watchInterrupts(clock);
  const { asked, insisted } = interrupt;
  process.emit('SIGHUP');
  // The kernel, the shell, and the end of the terminal's input say the same thing.
  process.emit('SIGHUP');
  expect([asked.aborted, insisted.aborted]).toEqual([true, false]);
  await clock.advance(hangUpMs - 1);
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
