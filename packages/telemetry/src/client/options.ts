import { writeSync } from 'node:fs';
import { systemClock, type Clock, type Random } from '@sallyport/core';
import type { ClientOptions } from '@sallyport/core/client';
import type { DropReason } from './counters.ts';
import type { Environment } from './opt-out.ts';
import type { QueueLimits } from './queue.ts';
import type { Redactor } from './redact.ts';
import type { Sampling } from './sample.ts';

export interface TelemetryBatcherOptions extends ClientOptions {
  /** Which program this is, in neutral words: `agent_desktop`. */
  readonly serviceName: string;
  readonly serviceVersion: string;
  /** Where events go that cannot be sent, each for its own service; without it they are lost when the process ends. */
  readonly spoolDir?: string;
  /** `false`: off, as by the environment's switches. Those have the last word (see `optOut`). */
  readonly enabled?: boolean;
  readonly env?: Environment;
  /** The attributes that are sent, such as `tool.name` or `tool.*`; default: all. Others never leave the process. */
  readonly allowAttributes?: readonly string[];
  /** Default: secrets, and the directories of this process. */
  readonly redactor?: Redactor;
  /** How many events of a name are sent, from 0 to 1; default: all. Errors always are. */
  readonly sampling?: Sampling;
  /** Request bodies as gzip (default: unless the service is on this machine, where it costs time and saves none). */
  readonly gzip?: boolean;
  /** Default 2,048 events and 4 MiB. */
  readonly queue?: Partial<QueueLimits>;
  /** Default: the contract's 60 s. */
  readonly flushIntervalMs?: number;
  readonly random?: Random;
  /** Told of each loss. Must not emit. */
  readonly onDrop?: (reason: DropReason, count: number) => void;
  /** Told of the batcher's own trouble, such as a service that refuses, or a spool that cannot be written; default: a line on stderr with `SALLYPORT_DEBUG`. */
  readonly onError?: (error: unknown) => void;
  /** Send, or spool, what waits when the process ends by itself (default true). */
  readonly installExitHandlers?: boolean;
  /** The same at SIGINT, SIGTERM and SIGHUP; the process still ends by the signal (default false). */
  readonly installSignalHandlers?: boolean;
}

const debugEveryMs = 60_000;

/** Where a batcher's own trouble goes: to the hook, whose own trouble must not reach whoever emits. */
export function errorHook(
  { onError, env = process.env, clock = systemClock }: TelemetryBatcherOptions,
  write: (line: string) => void = toStderr,
): (error: unknown) => void {
  const tell = onError ?? (env['SALLYPORT_DEBUG'] ? debugLine(clock, write) : () => undefined);
  return (error) => {
    try {
      tell(error);
    } catch {
      // Nothing is left to tell it to.
    }
  };
}

/** Never through a logger, which may report here; nor by the stream, whose error ends the program where nobody reads on. */
function toStderr(line: string): void {
  writeSync(2, line);
}

/** One line a minute. */
function debugLine(clock: Clock, write: (line: string) => void): (error: unknown) => void {
  let nextAt = -Infinity;
  return (error) => {
    if (clock.monotonic() < nextAt) return;
    nextAt = clock.monotonic() + debugEveryMs;
    write(`telemetry: ${error instanceof Error ? error.message : String(error)}\n`);
  };
}
