import type { Clock } from '@sallyport/core';

export type BreakerState = 'closed' | 'open' | 'half-open';

/** Keeps requests from an upstream that does not answer: after failures in a row it opens, and then lets one try at a time. */
export interface Breaker {
  readonly state: BreakerState;
  /** Milliseconds since the upstream last answered; `Infinity` before it ever did. */
  readonly silentMs: number;
  /** 0 lets the request go, and asks for one of the three that follow; else the milliseconds until another try is worth it. */
  admit(): number;
  succeeded(): void;
  failed(): void;
  /** The request ended without saying anything about the upstream: its caller hung up. */
  released(): void;
}

export interface BreakerOptions {
  readonly clock: Clock;
  /** Failures in a row that open it. Default 5. */
  readonly threshold?: number;
  /** How long it stays open before a try. Default 5,000. */
  readonly openMs?: number;
}

export function createBreaker({ clock, threshold = 5, openMs = 5_000 }: BreakerOptions): Breaker {
  let failures = 0;
  let openUntil: number | undefined;
  let trying = false;
  let heard = -Infinity;
  return {
    get state() {
      if (openUntil === undefined) return 'closed';
      return trying || clock.monotonic() >= openUntil ? 'half-open' : 'open';
    },
    get silentMs() {
      return clock.monotonic() - heard;
    },
    admit() {
      if (openUntil === undefined) return 0;
      const wait = openUntil - clock.monotonic();
      if (wait > 0) return wait;
      if (trying) return openMs;
      trying = true;
      return 0;
    },
    succeeded() {
      failures = 0;
      openUntil = undefined;
      trying = false;
      heard = clock.monotonic();
    },
    failed() {
      failures++;
      // Who was let go before it opened, and fails now, tells nothing new.
      if (openUntil !== undefined && !trying) return;
      trying = false;
      if (failures >= threshold) openUntil = clock.monotonic() + openMs;
    },
    released() {
      trying = false;
    },
  };
}
