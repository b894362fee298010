import { setImmediate } from 'node:timers/promises';
import {
  createLatch,
  ServiceError,
  severities,
  toTimestamp,
  type Clock,
  type Role,
  type Wakeups,
} from '@sallyport/core';
import type { contract, RequestOf, TelemetryRecord, TelemetryStats } from '@sallyport/core/contract';
import { countsByBucket } from './record-counts.ts';
import { decodeOffset, encodeOffset } from './record-cursor.ts';
import { parseAttributeMatch } from './record-filter.ts';
import { toShown } from './record-form.ts';
import type { Place, RecordCount, RecordFilter, StoredRecord, TelemetryReads } from './ports.ts';
import type { RecordReads } from './record-reads.ts';
import { recordsTopic } from './topics.ts';

type Rows = typeof contract.telemetry;
type ListQuery = RequestOf<Rows['query']>['query'];
type Filters = Omit<ListQuery, 'order' | 'limit' | 'offset'>;

/** Who reads: an admin sees what is the organization's, everybody else what is their own. */
export interface RecordsCaller {
  readonly accountId: string;
  readonly organizationId: string;
  readonly role: Role;
}

export interface Records {
  /**
   * A page of records. It may be short, even empty, and still have a `next`: what is looked at for one page is bounded,
   * however rare the records are that are meant.
   */
  list(
    caller: RecordsCaller,
    query: ListQuery,
    limit: number,
  ): Promise<{ readonly records: TelemetryRecord[]; readonly next: string | undefined }>;
  /** Records as they are stored, behind `afterId` or from now on, until the signal aborts; gives the id behind which they begin. */
  follow(
    caller: RecordsCaller,
    query: Filters,
    options: { readonly afterId?: number | undefined; readonly signal: AbortSignal },
  ): Promise<{ readonly afterId: number; readonly records: AsyncIterable<TelemetryRecord> }>;
  /** How many there are; by default of the last hour, in 60 buckets. */
  count(
    caller: RecordsCaller,
    query: Filters & { readonly buckets?: number | undefined },
  ): Promise<TelemetryStats>;
}

export interface RecordsOptions {
  readonly store: Pick<RecordReads, 'scanRecords' | 'countRecords' | 'recordsAfter'> &
    Pick<TelemetryReads, 'recordHead'>;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly config: {
    /** Records that are looked at for one page. */
    readonly maxScannedRecords: number;
    /** Records that are counted for one answer. */
    readonly maxCountedRecords: number;
  };
}

/** Records that are looked at without a pause: some milliseconds of the event loop. */
const sliceRecords = 1000;
const pageBytes = 4 * 1024 * 1024;
/** A reader that has stopped reading holds so much, and there may be many. */
const followedBytes = 256 * 1024;
const hourMs = 3_600_000;

/** Reads the stored records: pages, a live feed, and counts. */
export function createRecords({ store, wakeups, clock, config }: RecordsOptions): Records {
  let lastTurn: Promise<void> = Promise.resolve();
  /** One slice at a time, of all readers: else nothing comes in between before each of them has had one. */
  function turn(): Promise<void> {
    return (lastTurn = lastTurn.then(() => setImmediate()));
  }

  return {
    async list(caller, query, limit) {
      const { order = 'newest', offset } = query;
      const filter = filterOf(caller, query);
      let next = offset === undefined ? undefined : decodeOffset(offset);
      const records: StoredRecord[] = [];
      for (let scanned = 0; scanned < config.maxScannedRecords;) {
        await turn();
        const slice = await store.scanRecords({
          filter,
          order,
          after: next,
          maxScanned: sliceRecords,
          limit: limit - records.length,
          maxBytes: pageBytes,
        });
        records.push(...slice.records);
        scanned += slice.scanned;
        next = slice.next;
        if (next === undefined || records.length >= limit || weightOf(records) > pageBytes) break;
      }
      return { records: records.map(toShown), next: next && encodeOffset(next) };
    },

    async follow(caller, query, { afterId: asked, signal }) {
      const { lastId } = await store.recordHead();
      const afterId = Math.min(asked ?? lastId, lastId);
      return { afterId, records: follow(filterOf(caller, query), afterId, signal) };
    },

    async count(caller, { buckets = 60, ...query }) {
      const now = clock.now();
      const asked = filterOf(caller, query);
      const to = Math.min(asked.toReceivedAt ?? now + 1, Number.MAX_SAFE_INTEGER);
      const from = asked.fromReceivedAt ?? to - hourMs;
      if (from >= to) throw badSpan();
      const bucketMs = Math.max(1, Math.ceil((to - from) / buckets));
      const filter = { ...asked, fromReceivedAt: from, toReceivedAt: to };
      const counts: RecordCount[] = [];
      let next: Place | undefined;
      for (let scanned = 0; scanned < config.maxCountedRecords;) {
        await turn();
        const slice = await store.countRecords({
          filter,
          order: 'newest',
          after: next,
          maxScanned: sliceRecords,
          bucketMs,
        });
        counts.push(...slice.counts);
        scanned += slice.scanned;
        next = slice.next;
        if (next === undefined) break;
      }
      return {
        from: toTimestamp(from),
        to: toTimestamp(to),
        bucket_ms: bucketMs,
        complete: next === undefined,
        ...countsByBucket(counts, { from, bucketMs, buckets: Math.ceil((to - from) / bucketMs) }),
      };
    },
  };

  /** A cursor of its own: a slow reader holds one piece, and delays nobody. */
  async function* follow(
    filter: RecordFilter,
    after: number,
    signal: AbortSignal,
  ): AsyncGenerator<TelemetryRecord, void, void> {
    const latch = createLatch();
    const topic = recordsTopic(filter.organizationId);
    // Before the first read: what is stored between the two must wake.
    wakeups.subscribe(topic, latch);
    try {
      let cursor = after;
      while (!signal.aborted) {
        await turn();
        const { records, scannedTo } = await store.recordsAfter({
          after: cursor,
          filter,
          maxScanned: sliceRecords,
          maxBytes: followedBytes,
        });
        for (const record of records) yield toShown(record);
        if (scannedTo === cursor) await latch.wait(signal);
        cursor = scannedTo;
      }
    } finally {
      wakeups.unsubscribe(topic, latch);
    }
  }
}

function filterOf({ accountId, organizationId, role }: RecordsCaller, query: Filters): RecordFilter {
  const { min_severity: least, account_id: ofAccount } = query;
  const isAdmin = role === 'admin';
  // Others' are read by admins alone.
  const isNone = !isAdmin && ofAccount !== undefined && ofAccount !== accountId;
  return {
    organizationId,
    accountId: isAdmin ? ofAccount : accountId,
    fromReceivedAt: toMs(query.from),
    toReceivedAt: isNone ? 0 : toMs(query.to),
    fromTime: toNanos(query.event_from),
    toTime: toNanos(query.event_to),
    serviceName: query.service,
    eventName: query.event_name,
    traceId: query.trace_id?.toLowerCase(),
    minSeverity: typeof least === 'string' ? severities[least] : least,
    attributes: [query.attribute ?? []].flat().map(parseAttributeMatch),
    text: query.text,
  };
}

function toMs(timestamp: string | undefined): number | undefined {
  return timestamp === undefined ? undefined : Math.max(0, Date.parse(timestamp));
}

/** The digits of RFC 3339 beyond the milliseconds count, too. */
function toNanos(timestamp: string | undefined): string | undefined {
  if (timestamp === undefined) return undefined;
  const [, fraction = ''] = /\.(\d+)/.exec(timestamp) ?? [];
  const whole = Math.floor(Math.max(0, Date.parse(timestamp)) / 1000);
  return String(BigInt(whole) * 1_000_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0')));
}

function weightOf(records: readonly StoredRecord[]): number {
  return records.reduce((sum, { bytes }) => sum + bytes, 0);
}

function badSpan(): ServiceError {
  return new ServiceError('invalid_request', 'The time asked for ends before it begins.', {
    issues: [{ path: 'query/from', message: 'must be before `to`' }],
  });
}
