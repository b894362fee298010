import { setImmediate } from 'node:timers/promises';

/** Gives all who wait one turn of the event loop each, one after the other: else nothing comes in between before each had one. */
export function createTurns(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => (last = last.then(() => setImmediate()));
}
