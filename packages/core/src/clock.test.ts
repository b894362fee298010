import { expect, test, vi } from 'vitest';
import { systemClock } from './clock.ts';

test.each([2 ** 31, 1e15, Infinity])('a timer of %d ms does not fire at once', (ms) => {
  // Node fires one that it cannot hold after a millisecond, and says so.
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  systemClock.after(ms, () => undefined).cancel();
  expect(warned).not.toHaveBeenCalled();
});
