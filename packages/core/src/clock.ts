/** A timer that was set; `cancel` is idempotent. */
export interface Timer {
  cancel(): void;
}

/** Time, as a port: engines never read the system's clock themselves. */
export interface Clock {
  /** Milliseconds since the Unix epoch; may jump. */
  now(): number;
  /** Milliseconds since some start; never goes back. */
  monotonic(): number;
  /** Runs `act` once after `ms`; `keepAlive` (default false) lets the timer hold the process open. */
  after(ms: number, act: () => void, options?: { readonly keepAlive?: boolean }): Timer;
}

/** What Node's timers hold; a longer one would fire at once. */
const longestMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after(ms, act, options) {
    const timer = setTimeout(act, Math.min(ms, longestMs));
    if (options?.keepAlive !== true) timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Resolves after `ms`, or rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const timer = clock.after(ms, finish, { keepAlive: true });
    signal?.addEventListener('abort', abort, { once: true });
    function finish() {
      signal?.removeEventListener('abort', abort);
      resolve();
    }
    function abort() {
      timer.cancel();
      reject(signal?.reason as Error);
    }
  });
}

/** RFC 3339 in UTC with milliseconds, the form of every timestamp on the wire. */
export function toTimestamp(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
