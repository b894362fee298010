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
  failed(why?: unknown): void;
  /** The request ended without saying anything about the upstream: its caller hung up. */
  released(): void;
}

/** `half-open`: a try is let go; it tells by what comes next. */
export interface BreakerChange {
  readonly from: BreakerState;
  readonly to: BreakerState;
  /** What the last of the failures was. */
  readonly why: unknown;
}

export interface BreakerOptions {
  readonly clock: Clock;
  /** Failures in a row that open it. Default 5. */
  readonly threshold?: number;
  /** How long it stays open before a try. Default 5,000. */
  readonly openMs?: number;
  /** Is told of each change once. */
  readonly onChange?: (change: BreakerChange) => void;
}

export function createBreaker({ clock, threshold = 5, openMs = 5_000, onChange }: BreakerOptions): Breaker {
  let failures = 0;
  let openUntil: number | undefined;
  let trying = false;
  let heard = -Infinity;
  let told: BreakerState = 'closed';
  let why: unknown;

  /** Not when the time of an open one is over: that is told with the try. */
  function tell(to: BreakerState): void {
    if (to === told) return;
    const from = told;
    told = to;
    onChange?.({ from, to, why });
  }

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
      tell('half-open');
      return 0;
    },
    succeeded() {
      failures = 0;
      openUntil = undefined;
      trying = false;
      heard = clock.monotonic();
      tell('closed');
    },
    failed(error) {
      failures++;
      // Who was let go before it opened, and fails now, tells nothing new.
      if (openUntil !== undefined && !trying) return;
      trying = false;
      why = error;
      if (failures < threshold) return;
      openUntil = clock.monotonic() + openMs;
      tell('open');
    },
    released() {
      trying = false;
    },
  };
}
