import {
  createLatch,
  partBytes,
  ServiceError,
  severities,
  toTimestamp,
  type AccountEmails,
  type Clock,
  type Wakeups,
} from '@sallyport/core';
import type { Role } from '@sallyport/core/organization';
import type { contract, RequestOf, TelemetryRecord, TelemetryStats } from '@sallyport/core/contract';
import { createAccountLimit } from './account-limit.ts';
import { countsByBucket } from './record-counts.ts';
import { decodeOffset, encodeOffset } from './record-cursor.ts';
import { parseAttributeMatch } from './record-filter.ts';
import { toShown } from './record-form.ts';
import type { Place, RecordCount, RecordFilter, StoredRecord, TelemetryReads } from './ports.ts';
import type { RecordReads } from './record-reads.ts';
import { recordsTopic } from './topics.ts';
import { createTurns } from './turns.ts';

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
   * however rare the records are that are meant, and ends soon after `signal` aborts. A few pages and counts of an account are
   * under way at once; the others wait.
   */
  list(
    caller: RecordsCaller,
    query: ListQuery,
    limit: number,
    signal?: AbortSignal,
  ): Promise<{ readonly records: TelemetryRecord[]; readonly next: string | undefined }>;
  /** Records as they are stored, behind `afterId` or from now on, until the signal aborts; gives the id behind which they begin. */
  follow(
    caller: RecordsCaller,
    query: Filters,
    options: { readonly afterId?: number | undefined; readonly signal: AbortSignal },
  ): Promise<{ readonly afterId: number; readonly records: AsyncIterable<TelemetryRecord> }>;
  /** How many there are, as far as was counted; by default of the last hour, in 60 buckets. */
  count(
    caller: RecordsCaller,
    query: Filters & { readonly buckets?: number | undefined },
    signal?: AbortSignal,
  ): Promise<TelemetryStats>;
}

export interface RecordsOptions {
  readonly store: Pick<RecordReads, 'scanRecords' | 'countRecords' | 'recordsAfter'> &
    Pick<TelemetryReads, 'recordHead'>;
  readonly accounts?: AccountEmails | undefined;
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
/** Pages and counts of one account: each holds up to a page, and takes turns from everybody else's. */
const readsAtOnce = 4;
/** A reader that has stopped reading holds so much, and there may be many. */
const followedBytes = 256 * 1024;
const hourMs = 3_600_000;
/** An account that nobody has. */
const nobody = '';

/** Reads the stored records: pages, a live feed, and counts. */
export function createRecords(options: RecordsOptions): Records {
  const unlimited = createUnlimited(options);
  const limited = createAccountLimit(readsAtOnce);
  return {
    ...unlimited,
    list: (caller, query, limit, signal) =>
      limited(caller.accountId, signal, () => unlimited.list(caller, query, limit, signal)),
    count: (caller, query, signal) =>
      limited(caller.accountId, signal, () => unlimited.count(caller, query, signal)),
  };
}

function createUnlimited({ store, accounts, wakeups, clock, config }: RecordsOptions): Records {
  /** One slice at a time, of all readers. */
  const turn = createTurns();

  async function toShownAll(records: readonly StoredRecord[]): Promise<TelemetryRecord[]> {
    const ids = new Set(records.map(({ accountId }) => accountId));
    const emails = ids.size === 0 ? undefined : await accounts?.emails([...ids]);
    return records.map((record) => toShown(record, emails));
  }

  return {
    async list(caller, query, limit, signal) {
      const { order = 'newest', offset } = query;
      const filter = filterOf(caller, query);
      let next = offset === undefined ? undefined : decodeOffset(offset);
      const records: StoredRecord[] = [];
      let bytes = 0;
      for (let scanned = 0; scanned < config.maxScannedRecords;) {
        await turn();
        const slice = await store.scanRecords({
          filter,
          order,
          after: next,
          maxScanned: sliceRecords,
          limit: limit - records.length,
          maxBytes: partBytes - bytes,
        });
        records.push(...slice.records);
        bytes += weightOf(slice.records);
        scanned += slice.scanned;
        next = slice.next;
        if (next === undefined || records.length >= limit || bytes >= partBytes) break;
        if (signal?.aborted === true) break;
      }
      return { records: await toShownAll(records), next: next && encodeOffset(next) };
    },

    async follow(caller, query, { afterId: asked, signal }) {
      const { lastId } = await store.recordHead();
      const afterId = Math.min(asked ?? lastId, lastId);
      return { afterId, records: follow(filterOf(caller, query), afterId, signal) };
    },

    async count(caller, { buckets = 60, ...query }, signal) {
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
        if (next === undefined || signal?.aborted === true) break;
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
        yield* await toShownAll(records);
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
  const isOfOthers = !isAdmin && ofAccount !== undefined && ofAccount !== accountId;
  return {
    organizationId,
    accountId: isAdmin ? ofAccount : isOfOthers ? nobody : accountId,
    fromReceivedAt: toMs(query.from),
    toReceivedAt: toMs(query.to),
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
