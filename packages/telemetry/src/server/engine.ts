import type { AccountEmails, Clock, Log, Wakeups } from '@sallyport/core';
import { judgeBatch, throwRetryable } from './batch.ts';
import { packGroups } from './block-groups.ts';
import { takeRequest } from './block.ts';
import { createCompaction } from './compaction.ts';
import { createDamagedBlocks, type DamagedBlocks } from './damaged-blocks.ts';
import { fingerprintOf } from './idempotency.ts';
import type { LogsBody } from './logs-body.ts';
import { createBlockOpener } from './opened-block.ts';
import type { LogsAnswer } from './otlp-answer.ts';
import type { AppendRecords, Idempotency, Organizations, TelemetryStore, WrittenBlock } from './ports.ts';
import { createRecordReads } from './record-reads.ts';
import { createRecords, type Records } from './records.ts';
import { createRetention } from './retention.ts';
import { allRecordsTopic, recordsTopic } from './topics.ts';

/** How telemetry is bounded: `telemetry.*` of the gateway's configuration. */
export interface TelemetryConfig {
  /** How long a request that comes again is known by its idempotency key. */
  readonly idempotencySeconds: number;
  /** Requests that are known by their key at once; beyond, the oldest ones are forgotten. */
  readonly maxIdempotencyKeys: number;
  /** Records that are looked at for one page of a query; where they are not enough, the next page goes on. */
  readonly maxScannedRecords: number;
  /** Records that are counted for one answer. */
  readonly maxCountedRecords: number;
  /** The age at which records are dropped. */
  readonly retentionSeconds: number;
  /** What all records may take on the disk; beyond, the oldest ones are dropped. */
  readonly maxStoredBytes: number;
}

export const defaultTelemetryConfig: TelemetryConfig = {
  idempotencySeconds: 24 * 3600,
  maxIdempotencyKeys: 1_000_000,
  maxScannedRecords: 100_000,
  maxCountedRecords: 500_000,
  retentionSeconds: 30 * 24 * 3600,
  maxStoredBytes: 4 * 1024 ** 3,
};

export interface TelemetryEngineOptions {
  readonly store: TelemetryStore;
  readonly organizations: Organizations;
  /** Without it records show whose they are by id alone. */
  readonly accounts?: AccountEmails;
  /** Told of stored records: `records.follow` and an export wait there. */
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly log: Log;
  /** Those that others met count, too. */
  readonly damaged?: DamagedBlocks;
  readonly config?: Partial<TelemetryConfig>;
}

/** Whose events they are. */
export interface Sender {
  readonly accountId: string;
  readonly organizationId: string;
}

/** How they were sent. */
export interface Delivery {
  /** The same request under the same key of an account is stored once. */
  readonly idempotencyKey?: string;
  /** Epoch milliseconds by the sender's clock. */
  readonly sentAt?: number;
}

/** Events since the start. */
export interface TelemetryEngineStats {
  readonly stored: number;
  /** Came again under their idempotency key, and were not stored again. */
  readonly replayed: number;
  /** Accepted and dropped: their organization keeps no data. */
  readonly droppedForZeroRetention: number;
  /** Left out of an OTLP request that was a partial success. */
  readonly rejected: number;
  /** Dropped by age or for room. */
  readonly expired: number;
  /** Those of them that no export had taken, though there is one. */
  readonly expiredUnexported: number;
  /** Small blocks that are in larger ones now. */
  readonly mergedBlocks: number;
  /** Blocks that could not be read. */
  readonly damagedBlocks: number;
}

export interface TelemetryEngine {
  /**
   * Stores a batch, all or nothing, durably before it answers. Throws `too_many_events` (413) over 50, whatever they
   * are; `invalid_request` (400) whose issues name each bad event as `events/17/...`; `temporarily_unavailable` (429)
   * while the store cannot write.
   */
  ingestBatch(
    sender: Sender,
    events: readonly unknown[],
    request: { readonly serviceName: string } & Delivery,
  ): Promise<{ accepted: number }>;
  /**
   * Stores an OTLP logs request durably before it answers, less the records that break a rule. Throws `invalid_otlp`
   * (400) where it cannot be read, and then nothing of it is stored; 503 while the store cannot write.
   */
  ingestLogs(sender: Sender, body: LogsBody, request?: Delivery): Promise<LogsAnswer>;
  /** The stored records, to read. */
  readonly records: Records;
  /** Drops what is too old or too much, in short steps; joins a run that is under way. */
  sweep(): Promise<void>;
  /** Makes large blocks of small ones, in short steps, until the signal aborts. One run at a time. */
  compact(signal?: AbortSignal): Promise<void>;
  stats(): TelemetryEngineStats;
}

/** Makes the ingest of telemetry over its ports. */
export function createTelemetryEngine(options: TelemetryEngineOptions): TelemetryEngine {
  const { store, organizations, wakeups, clock, log } = options;
  const config = { ...defaultTelemetryConfig, ...options.config };
  const stats = { stored: 0, replayed: 0, droppedForZeroRetention: 0, rejected: 0 };
  const damaged = options.damaged ?? createDamagedBlocks(log);
  const open = createBlockOpener(store, damaged);
  const retention = createRetention({ store, open, clock, log, config });
  const compaction = createCompaction({ store, open, clock });

  function idempotencyOf(
    key: string | undefined,
    receivedAt: number,
    content: () => string | Uint8Array,
  ): Idempotency | undefined {
    if (key === undefined) return undefined;
    const { idempotencySeconds, maxIdempotencyKeys: maxKeys } = config;
    const since = receivedAt - idempotencySeconds * 1000;
    return { key, fingerprint: fingerprintOf(content()), since, maxKeys };
  }

  /** Whether it had all come before. */
  async function append(
    { accountId, organizationId }: Sender,
    count: number,
    blocks: readonly WrittenBlock[],
    request: Pick<AppendRecords, 'receivedAt' | 'idempotency'> & { readonly sentAt: number | undefined },
  ): Promise<boolean> {
    if (count === 0) return false;
    if (await organizations.isZeroDataRetention(organizationId)) {
      stats.droppedForZeroRetention += count;
      return false;
    }
    const { sentAt, ...rest } = request;
    const skewMs = skewOf(sentAt, request.receivedAt);
    const { isReplay, storedBytes } = await store.appendRecords({
      organizationId,
      accountId,
      skewMs,
      blocks,
      ...rest,
    });
    stats[isReplay ? 'replayed' : 'stored'] += count;
    retention.noteStored(storedBytes);
    wakeups.notify(recordsTopic(organizationId));
    wakeups.notify(allRecordsTopic);
    log.debug({ organizationId, accepted: count, isReplay }, 'records ingested');
    return isReplay;
  }

  return {
    async ingestBatch(sender, events, { serviceName, idempotencyKey, sentAt }) {
      const receivedAt = clock.now();
      const records = judgeBatch(events, receivedAt);
      const idempotency = idempotencyOf(idempotencyKey, receivedAt, () => JSON.stringify(events));
      const group = { serviceName, resource: null, scope: null, records };
      await append(sender, records.length, packGroups([group]), {
        receivedAt,
        idempotency,
        sentAt,
      }).catch(throwRetryable);
      return { accepted: records.length };
    },
    async ingestLogs(sender, body, { idempotencyKey, sentAt } = {}) {
      const receivedAt = clock.now();
      const { blocks, accepted, rejected, message } = takeRequest(body, receivedAt);
      const idempotency = idempotencyOf(idempotencyKey, receivedAt, () => body.bytes);
      const isReplay = await append(sender, accepted, blocks, { receivedAt, idempotency, sentAt });
      if (!isReplay) stats.rejected += rejected;
      return { rejected, message };
    },
    records: createRecords({
      store: { ...createRecordReads(store, damaged), recordHead: () => store.recordHead() },
      accounts: options.accounts,
      wakeups,
      clock,
      config,
    }),
    sweep: () => retention.sweep(),
    compact: (signal) => compaction.run(signal),
    stats: () => ({
      ...stats,
      ...retention.stats(),
      mergedBlocks: compaction.merged(),
      damagedBlocks: damaged.count(),
    }),
  };
}

/** A clock that is a little off tells nothing that the network's delays do not. */
const notableSkewMs = 5 * 60_000;

function skewOf(sentAt: number | undefined, receivedAt: number): number | null {
  if (sentAt === undefined || Math.abs(sentAt - receivedAt) <= notableSkewMs) return null;
  return Math.trunc(sentAt - receivedAt);
}
