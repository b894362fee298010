import {
  createLatch,
  fullJitter,
  sleep,
  type Clock,
  type Log,
  type Random,
  type Wakeups,
} from '@sallyport/core';
import type { Transport } from '@sallyport/core/client';
import { createDamagedBlocks, type DamagedBlocks } from '../damaged-blocks.ts';
import type { StoredRecord, TelemetryActs, TelemetryReads } from '../ports.ts';
import { createRecordReads } from '../record-reads.ts';
import { allRecordsTopic } from '../topics.ts';
import { createExportRequest, type ExportConfig } from './export-request.ts';

export interface ExporterOptions {
  readonly store: TelemetryReads & Pick<TelemetryActs, 'advanceExport'>;
  readonly transport: Transport;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly damaged?: DamagedBlocks;
  readonly config: ExportConfig;
}

/** Since the start. */
export interface ExportStats {
  readonly requests: number;
  /** Records that the endpoint has taken. */
  readonly exported: number;
  /** Records of a success that the endpoint says it left out. */
  readonly rejected: number;
  /** Records that were refused one by one, and given up. */
  readonly refused: number;
  /** Requests that are made again: after a failure, or with fewer records. */
  readonly retries: number;
  /** Why the last request failed; `undefined` when it did not. */
  readonly failing: string | undefined;
}

/**
 * Sends all stored records on, in the order in which they were stored, each at least once: the records are the queue, and
 * a cursor in the store tells how far the endpoint has come. What waits is bounded by the records' own retention.
 */
export interface Exporter {
  start(): void;
  /** Ends at once: what was not taken stays where it is. */
  stop(): Promise<void>;
  stats(): ExportStats;
}

const requestBytes = 1024 * 1024;
/** What an endpoint that is told to wait may ask for at most. */
const longestWaitMs = 15 * 60_000;
/** Wrong settings are not put right within seconds, and an endpoint must not be flooded with refused logins. */
const heldWaitMs = 60_000;
/** Records that are given up one after the other before there is a pause. */
const refusedAtOnce = 5;

export function createExporter(options: ExporterOptions): Exporter {
  const { store, wakeups, clock, random, log, config } = options;
  const reads = createRecordReads(store, options.damaged ?? createDamagedBlocks(log));
  const abort = new AbortController();
  const send = createExportRequest(options);
  const stats = { requests: 0, exported: 0, rejected: 0, refused: 0, retries: 0 };
  let failing: string | undefined;
  let refusedInRow = 0;
  let running: Promise<void> | undefined;

  async function run(signal: AbortSignal): Promise<void> {
    const latch = createLatch();
    // Before the first read: what is stored between the two must wake.
    wakeups.subscribe(allRecordsTopic, latch);
    let cursor: number | undefined;
    try {
      for (let attempt = 0; !signal.aborted;) {
        try {
          cursor ??= await firstCursor();
          const next = await step(cursor, signal);
          if (next === cursor) await latch.wait(signal);
          cursor = next;
          attempt = 0;
        } catch (error) {
          if (abort.signal.aborted) return;
          // The store's trouble passes, too; what was taken and not noted is sent again.
          log.error({ err: error }, 'the export was interrupted and begins again');
          await sleep(clock, fullJitter(random, attempt++), signal);
        }
      }
    } finally {
      wakeups.unsubscribe(allRecordsTopic, latch);
    }
  }

  async function firstCursor(): Promise<number> {
    // From now on a record that goes without having been exported counts as lost.
    await store.advanceExport({ exportedTo: 0 });
    return (await store.recordHead()).exportedTo;
  }

  async function step(cursor: number, signal: AbortSignal): Promise<number> {
    const { records, scannedTo } = await reads.recordsAfter({
      after: cursor,
      maxScanned: config.maxRecords,
      maxBytes: requestBytes,
    });
    if (records.length > 0) await deliver(records, signal);
    if (scannedTo > cursor) await store.advanceExport({ exportedTo: scannedTo });
    return scannedTo;
  }

  /** Settles when each of the records was taken or given up. */
  async function deliver(records: readonly StoredRecord[], signal: AbortSignal): Promise<void> {
    let size = records.length;
    for (let at = 0; at < records.length;) {
      const some = records.slice(at, at + size);
      const verdict = await sendUntilJudged(some, signal);
      if (verdict === 'taken') {
        at += some.length;
        refusedInRow = 0;
        await store.advanceExport({ exportedTo: some.at(-1)?.id ?? 0 });
        size = records.length - at; // the rest may have nothing wrong with it
      } else if (some.length > 1) {
        size = Math.ceil(some.length / 2);
        stats.retries++;
      } else {
        // An endpoint that refuses everything has another trouble than a record's: it must not empty the queue.
        if (++refusedInRow > refusedAtOnce) await sleep(clock, heldWaitMs, signal);
        at += 1;
        size = records.length - at;
        stats.refused++;
        log.warn(
          { record: some[0]?.id, reason: failing },
          'the export endpoint refuses a record: it is left out',
        );
      }
    }
  }

  async function sendUntilJudged(
    records: readonly StoredRecord[],
    signal: AbortSignal,
  ): Promise<'taken' | 'refused'> {
    for (let attempt = 0; ; attempt++) {
      stats.requests++;
      const { verdict, reason, waitMs, rejected } = await send(records, signal);
      if (verdict === 'taken') {
        stats.rejected += rejected;
        stats.exported += records.length - rejected;
      }
      if (verdict === 'taken' && failing !== undefined) log.info({ url: config.url }, 'the export goes on');
      if (verdict === 'later' || verdict === 'held')
        if (failing === undefined || attempt === 0)
          log.warn({ url: config.url, reason }, 'records cannot be exported now: they wait in the store');
      failing = reason;
      if (verdict === 'taken' || verdict === 'refused') return verdict;
      stats.retries++;
      const pauseMs = verdict === 'held' ? heldWaitMs : fullJitter(random, attempt);
      await sleep(clock, Math.max(pauseMs, Math.min(waitMs, longestWaitMs)), signal);
    }
  }

  return {
    start() {
      running ??= run(abort.signal).catch((error: unknown) => {
        if (!abort.signal.aborted) log.error({ err: error }, 'the export has ended');
      });
    },
    async stop() {
      abort.abort();
      await running;
    },
    stats: () => ({ ...stats, failing }),
  };
}
