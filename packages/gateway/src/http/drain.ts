import { ServiceError, sleep, systemRandom, type Clock, type Random } from '@sallyport/core';

/** An answer that lasts: a WebSocket or server-sent events. */
export interface OpenStream {
  /** Says goodbye and ends. Idempotent. */
  end(): void;
  /** Ends at once. */
  terminate(): void;
}

/** What the gateway knows about its own end. */
export interface Drain {
  readonly draining: boolean;
  /** Aborts when the drain begins: held polls answer. */
  readonly signal: AbortSignal;
  /** For who comes while it drains: each is told another time to come back. */
  refusal(): ServiceError;
  /** Counts a stream as open until it is removed; one that comes while draining is ended at once. */
  add(stream: OpenStream): void;
  remove(stream: OpenStream): void;
  /** Begins to drain, runs `steps` in order, then ends what streams are left, spread over time. Idempotent. */
  run(steps: readonly (() => Promise<void>)[]): Promise<void>;
  /** Ends what is left at once. */
  terminate(): void;
}

export interface DrainOptions {
  readonly clock: Clock;
  readonly random?: Random;
  /** The most over which the ends of streams are spread, so that their clients do not all come back at once. */
  readonly spreadMs?: number;
  /** ... and the part of it that each stream is worth: a few end at once. */
  readonly spreadPerStreamMs?: number;
}

export function createDrain({
  clock,
  random = systemRandom,
  spreadMs = 10_000,
  spreadPerStreamMs = 10,
}: DrainOptions): Drain {
  const controller = new AbortController();
  const streams = new Set<OpenStream>();
  let running: Promise<void> | undefined;
  let empty: (() => void) | undefined;

  function refusal(): ServiceError {
    const retryAfterMs = 1000 + random.fraction() * 9000;
    return new ServiceError('draining', 'The gateway is shutting down.', { retryAfterMs });
  }

  async function drain(steps: readonly (() => Promise<void>)[]): Promise<void> {
    controller.abort(refusal());
    for (const step of steps) await step();
    const open = [...streams];
    const gap = Math.min(spreadMs / Math.max(1, open.length), spreadPerStreamMs);
    for (const stream of open) {
      stream.end();
      if (open.length > 1) await sleep(clock, gap);
    }
    if (streams.size > 0) await new Promise<void>((resolve) => (empty = resolve));
  }

  return {
    get draining() {
      return controller.signal.aborted;
    },
    signal: controller.signal,
    refusal,
    add(stream) {
      streams.add(stream);
      if (controller.signal.aborted) stream.end();
    },
    remove(stream) {
      streams.delete(stream);
      if (streams.size === 0) empty?.();
    },
    run: (steps) => (running ??= drain(steps)),
    terminate() {
      for (const stream of streams) stream.terminate();
    },
  };
}
