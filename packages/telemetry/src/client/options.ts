import type { Random } from '@sallyport/core';
import type { ClientOptions } from '@sallyport/core/client';
import type { DropReason } from './counters.ts';
import type { Environment } from './opt-out.ts';
import type { QueueLimits } from './queue.ts';
import type { Redactor } from './redact.ts';

export interface TelemetryBatcherOptions extends ClientOptions {
  /** Which program this is, in neutral words: `agent_desktop`. */
  readonly serviceName: string;
  readonly serviceVersion: string;
  /** Where events go that cannot be sent; without it they are lost when the process ends. */
  readonly spoolDir?: string;
  /** `false`: off, as by the environment's switches. Those have the last word (see `optOut`). */
  readonly enabled?: boolean;
  readonly env?: Environment;
  /** Default: secrets, and the directories of this process. */
  readonly redactor?: Redactor;
  /** Default 2,048 events and 4 MiB. */
  readonly queue?: Partial<QueueLimits>;
  /** Default: the contract's 60 s. */
  readonly flushIntervalMs?: number;
  readonly random?: Random;
  /** Told of each loss. Must not emit. */
  readonly onDrop?: (reason: DropReason, count: number) => void;
  /** Told of the batcher's own trouble, such as a spool that cannot be written. */
  readonly onError?: (error: unknown) => void;
  /** Send, or spool, what waits when the process ends by itself (default true). */
  readonly installExitHandlers?: boolean;
  /** The same at SIGINT, SIGTERM and SIGHUP; the process still ends by the signal (default false). */
  readonly installSignalHandlers?: boolean;
}

/** A hook's own trouble must not reach whoever emits. */
export function errorHook({ onError }: Pick<TelemetryBatcherOptions, 'onError'>): (error: unknown) => void {
  return (error) => {
    try {
      onError?.(error);
    } catch {
      // Nothing is left to tell it to.
    }
  };
}
