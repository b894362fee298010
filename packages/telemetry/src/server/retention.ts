import type { Clock, Log } from '@sallyport/core';
import { firstPlace } from './block-summary.ts';
import type { BlockOpener } from './opened-block.ts';
import { createPartRemoval } from './part-removal.ts';
import type { TelemetryActs, TelemetryReads } from './ports.ts';

export interface RetentionOptions {
  readonly store: Pick<TelemetryActs, 'dropOldest' | 'replaceBlocks'> & Pick<TelemetryReads, 'blocksAfter'>;
  readonly open: BlockOpener;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: { readonly retentionSeconds: number; readonly maxStoredBytes: number };
}

/** Records of one step, about: a few milliseconds of the writer, so that no request waits for a sweep. */
const stepRecords = 1000;

/** Keeps what is stored within its age and its size. */
export function createRetention({ store, open, clock, log, config }: RetentionOptions) {
  const { maxStoredBytes, retentionSeconds } = config;
  const removeParts = createPartRemoval(store, open);
  const stats = { expired: 0, expiredUnexported: 0 };
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    for (;;) {
      const receivedUntil = clock.now() - retentionSeconds * 1000;
      const { dropped, unexported, isDone } = await store.dropOldest({
        receivedUntil,
        maxBytes: maxStoredBytes,
        limit: stepRecords,
      });
      stats.expired += dropped;
      stats.expiredUnexported += unexported;
      if (isDone) return dropParts(receivedUntil);
    }
  }

  /** Of the first block that is left: requests that are one block now do not keep each other. */
  async function dropParts(receivedUntil: number): Promise<void> {
    const [head] = await store.blocksAfter({ after: 0, limit: 1 });
    if (!head || firstPlace(head).receivedAt > receivedUntil) return;
    const gone = await removeParts(head, ({ receivedAt }) => receivedAt <= receivedUntil);
    if (gone === 'changed') return dropParts(receivedUntil);
    stats.expired += gone.records;
    stats.expiredUnexported += gone.unexported;
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
