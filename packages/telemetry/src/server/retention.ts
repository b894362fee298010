import type { Clock, Log } from '@sallyport/core';
import type { TelemetryActs } from './ports.ts';

export interface RetentionOptions {
  readonly store: Pick<TelemetryActs, 'dropOldest'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: { readonly retentionSeconds: number; readonly maxStoredBytes: number };
}

/** Records of one step, about: a few milliseconds of the writer, so that no request waits for a sweep. */
const stepRecords = 1000;

/** Keeps what is stored within its age and its size. */
export function createRetention({ store, clock, log, config }: RetentionOptions) {
  const { maxStoredBytes, retentionSeconds } = config;
  const stats = { expired: 0, expiredUnexported: 0 };
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    for (;;) {
      const { dropped, unexported, isDone } = await store.dropOldest({
        receivedUntil: clock.now() - retentionSeconds * 1000,
        maxBytes: maxStoredBytes,
        limit: stepRecords,
      });
      stats.expired += dropped;
      stats.expiredUnexported += unexported;
      if (isDone) return;
    }
  }

  function sweep(): Promise<void> {
    running ??= run().finally(() => (running = undefined));
    return running;
  }

  return {
    sweep,
    /** Makes room at once: between two sweeps a busy day's records come. */
    noteStored(storedBytes: number): void {
      if (storedBytes <= maxStoredBytes || running) return;
      sweep().catch((error: unknown) => log.error({ err: error }, 'old records could not be dropped'));
    },
    stats: () => ({ ...stats }),
  };
}
