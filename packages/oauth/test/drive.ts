import type { ManualClock } from '@sallyport/core/testing';

/** Moves the clock on, a second at a time, whenever the work waits for it; never while a request is under way. */
export async function drive<T>(clock: ManualClock, work: Promise<T>): Promise<T> {
  let settled = false;
  const done = () => {
    settled = true;
  };
  work.then(done, done);
  while (!settled) {
    await new Promise((resolve) => setImmediate(resolve));
    if (clock.timers > 0) await clock.advance(1000);
  }
  return work;
}
