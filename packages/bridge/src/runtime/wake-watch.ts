import type { Clock, Timer } from '@sallyport/core';

const tickMs = 5_000;
/** The wall clock went on so much further than the monotonic one, which stands still in suspend. */
const sleptMs = 10_000;
/** Where both go on in suspend, the tick alone comes late. */
const lateMs = 15_000;
/** All machines of a host may wake at once: over how long each spreads what it does then. */
export const wakeSpreadMs = 2_000;

/** Notices that the machine slept; `wake` gets for about how long, in milliseconds. */
export function watchWake(clock: Clock, wake: (sleptMs: number) => void): Timer {
  let timer: Timer;
  const arm = () => {
    const wall = clock.now();
    const monotonic = clock.monotonic();
    timer = clock.after(tickMs, () => {
      const passed = clock.monotonic() - monotonic;
      const slept = clock.now() - wall - passed;
      const late = passed - tickMs;
      arm();
      if (slept > sleptMs || late > lateMs) wake(Math.max(slept, late));
    });
  };
  arm();
  return { cancel: () => timer.cancel() };
}
