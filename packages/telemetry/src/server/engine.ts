import { createHash } from 'node:crypto';
import { ServiceError, type Clock, type Issue, type Log } from '@sallyport/core';
import { batchLimits } from '@sallyport/core/contract';
import { judgeLogRecord, type TelemetryRecord } from './log-record.ts';
import type { Organizations, RecordQuery, StoredRecord, TelemetryStore } from './ports.ts';

/** How telemetry is bounded: `telemetry.*` of the gateway's configuration. */
export interface TelemetryConfig {
  readonly idempotencySeconds: number;
  /** Records of one read. */
  readonly maxQueryRecords: number;
}

export const defaultTelemetryConfig: TelemetryConfig = {
  idempotencySeconds: 24 * 3600,
  maxQueryRecords: 1000,
};

export interface TelemetryEngineOptions {
  readonly store: TelemetryStore;
  readonly organizations: Organizations;
  readonly clock: Clock;
  readonly log: Log;
  readonly config?: Partial<TelemetryConfig>;
}

/** Whose events they are. */
export interface Sender {
  readonly accountId: string;
  readonly organizationId: string;
}

/** Events since the start. */
export interface TelemetryEngineStats {
  readonly stored: number;
  /** Came again under their idempotency key, and were not stored again. */
  readonly replayed: number;
  /** Accepted and dropped: their organization keeps no data. */
  readonly droppedForZeroRetention: number;
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
    request: { readonly serviceName: string; readonly idempotencyKey?: string },
  ): Promise<{ accepted: number }>;
  /** The organization's records, at most `maxQueryRecords`. */
  queryRecords(query: RecordQuery): Promise<readonly StoredRecord[]>;
  stats(): TelemetryEngineStats;
}

/** Makes the ingest of telemetry over its ports. */
export function createTelemetryEngine(options: TelemetryEngineOptions): TelemetryEngine {
  const { store, organizations, clock, log } = options;
  const config = { ...defaultTelemetryConfig, ...options.config };
  const stats = { stored: 0, replayed: 0, droppedForZeroRetention: 0 };

  return {
    async ingestBatch({ accountId, organizationId }, events, { serviceName, idempotencyKey }) {
      const receivedAt = clock.now();
      const records = judgeBatch(events, receivedAt);
      const accepted = records.length;
      if (accepted === 0) return { accepted };
      if (await organizations.isZeroDataRetention(organizationId)) {
        stats.droppedForZeroRetention += accepted;
        return { accepted };
      }
      const { isReplay } = await store
        .appendRecords({
          organizationId,
          accountId,
          serviceName,
          receivedAt,
          records,
          idempotency:
            idempotencyKey === undefined
              ? undefined
              : {
                  key: idempotencyKey,
                  fingerprint: fingerprintOf(events),
                  since: receivedAt - config.idempotencySeconds * 1000,
                },
        })
        .catch(throwRetryable);
      stats[isReplay ? 'replayed' : 'stored'] += accepted;
      log.debug({ organizationId, serviceName, accepted, isReplay }, 'events ingested');
      return { accepted };
    },
    queryRecords: (query) =>
      store.queryRecords({ ...query, limit: Math.min(query.limit, config.maxQueryRecords) }),
    stats: () => ({ ...stats }),
  };
}

/** The number first: a client that sends too many must learn that, not what is wrong with one of them. */
function judgeBatch(events: readonly unknown[], receivedAt: number): TelemetryRecord[] {
  const { maxEvents } = batchLimits;
  if (events.length > maxEvents)
    throw new ServiceError('too_many_events', `A batch has at most ${maxEvents} events.`, {
      details: { max_events: maxEvents },
    });
  const issues: Issue[] = [];
  const records: TelemetryRecord[] = [];
  for (const [index, event] of events.entries()) {
    const record = judgeLogRecord(event, `events/${index}`, receivedAt, issues);
    if (record) records.push(record);
  }
  if (issues.length > 0)
    throw new ServiceError('invalid_request', 'The batch has malformed events; none was stored.', { issues });
  return records;
}

function fingerprintOf(events: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(events)).digest('base64url');
}

/** The endpoint's table has no 503; 429 is what its clients wait and come again after. */
function throwRetryable(error: unknown): never {
  if (error instanceof ServiceError && error.status === 503)
    throw new ServiceError('temporarily_unavailable', 'Events cannot be stored now.', {
      retryAfterMs: error.retryAfterMs ?? 1000,
      cause: error,
    });
  throw error;
}
