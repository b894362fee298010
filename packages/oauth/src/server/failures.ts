import { createLru, type Clock } from '@sallyport/core';

/** Counts failures by key within a window that the first one opens. */
export interface Failures {
  /** Milliseconds until the key may try again; `undefined`: now. */
  blockedMs(key: string): number | undefined;
  /** Counted before the outcome is known where parallel tries must not slip through together; see `takeBack`. */
  count(key: string): void;
  /** It was no failure. */
  takeBack(key: string): void;
  /** It was one: milliseconds until the key may try again where this is the failure that reaches the limit, once a window. */
  confirm(key: string): number | undefined;
  forget(key: string): void;
}

/** Keys kept; the ones longest without a try go first. */
const keptKeys = 10_000;

export function createFailures(clock: Clock, max: number, windowMs: number): Failures {
  const windows = createLru<{ count: number; confirmed: number; readonly endsAt: number }>(keptKeys);

  function current(key: string) {
    const window = windows.get(key);
    return window && window.endsAt > clock.monotonic() ? window : undefined;
  }

  return {
    blockedMs(key) {
      const window = current(key);
      return window && window.count >= max ? window.endsAt - clock.monotonic() : undefined;
    },
    count(key) {
      const window = current(key);
      if (window) window.count += 1;
      else windows.set(key, { count: 1, confirmed: 0, endsAt: clock.monotonic() + windowMs });
    },
    takeBack(key) {
      const window = current(key);
      if (window) window.count -= 1;
    },
    confirm(key) {
      const window = current(key);
      if (!window) return undefined;
      window.confirmed += 1;
      return window.confirmed === max ? window.endsAt - clock.monotonic() : undefined;
    },
    forget: (key) => windows.delete(key),
  };
}
