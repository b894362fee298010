import {
  hasContent,
  type Place,
  type RecordCount,
  type RecordFilter,
  type ScanRecords,
  type StoredRecord,
  type TelemetryReads,
} from '@sallyport/telemetry/storage';
import type { ScanningReader } from './reader.ts';
import { asksForContent, conditionsOf } from './telemetry-conditions.ts';
import { recordColumns, toRecord, type RecordRow } from './telemetry-rows.ts';

type CountedRow = Pick<RecordRow, 'id' | 'received_at' | 'severity_number' | 'service_name'>;

/** The telemetry's bounded reads on SQLite. */
export function telemetryReads(reader: ScanningReader): TelemetryReads {
  const head = reader.query<{ last_id: number; exported_to: number | null; records: number; bytes: number }>(
    'SELECT last_id, exported_to, records, bytes FROM telemetry_head',
  );
  const lastScanned = reader.query<{ id: number }>(
    'SELECT id FROM telemetry_record WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?',
  );
  const ofAccount = reader.query<RecordRow>(
    `SELECT ${recordColumns} FROM telemetry_record WHERE id > ? AND id <= ? AND account_id = ? ORDER BY id`,
  );

  /** The rows of a piece of the walk that the columns do not rule out, and where the piece ends. */
  function walk<Row>({ filter, order, after, maxScanned }: ScanRecords, columns: string) {
    const bounds = boundsOf(filter, order, after);
    const within = 'organization_id = ? AND (received_at, id) > (?, ?) AND (received_at, id) < (?, ?)';
    const direction = order === 'newest' ? 'DESC' : 'ASC';
    const orderBy = `ORDER BY received_at ${direction}, id ${direction}`;
    // The index alone: what is skipped is not read.
    const end = reader
      .query<Pick<RecordRow, 'received_at' | 'id'>>(
        `SELECT received_at, id FROM telemetry_record WHERE ${within} ${orderBy} LIMIT 1 OFFSET ?`,
      )
      .get(filter.organizationId, ...bounds, Math.max(0, maxScanned - 1));
    const { sql, parameters } = conditionsOf(filter);
    const rows = reader
      .query<Row>(`SELECT ${columns} FROM telemetry_record WHERE ${within}${sql} ${orderBy}`)
      .iterate(filter.organizationId, ...upTo(end, bounds, order), ...parameters);
    return { rows, next: end && { receivedAt: end.received_at, id: end.id } };
  }

  return {
    async accountRecords({ accountId, after, span }) {
      const scannedTo = lastScanned.get(after, span - 1)?.id;
      return {
        records: ofAccount.all(after, scannedTo ?? Number.MAX_SAFE_INTEGER, accountId).map(toRecord),
        scannedTo,
      };
    },

    async scanRecords({ limit, maxBytes, ...scan }) {
      const { rows, next } = walk<RecordRow>(scan, recordColumns);
      const records: StoredRecord[] = [];
      let bytes = 0;
      for (const row of rows) {
        const record = toRecord(row);
        if (!hasContent(record, scan.filter)) continue;
        records.push(record);
        bytes += record.bytes;
        if (records.length >= limit || bytes >= maxBytes)
          return { records, next: { receivedAt: record.receivedAt, id: record.id } };
      }
      return { records, next };
    },

    async countRecords({ bucketMs, ...scan }) {
      const { filter } = scan;
      const isFull = asksForContent(filter);
      const columns = isFull ? recordColumns : 'received_at, severity_number, service_name';
      const { rows, next } = walk<CountedRow>(scan, columns);
      const counts = new Map<string, RecordCount & { count: number }>();
      for (const row of rows) {
        if (isFull && !hasContent(toRecord(row as RecordRow), filter)) continue;
        const bucket = Math.floor((row.received_at - (filter.fromReceivedAt ?? 0)) / bucketMs);
        const { severity_number: severityNumber, service_name: serviceName } = row;
        const key = `${bucket} ${severityNumber} ${serviceName}`;
        const of = counts.get(key);
        if (of) of.count += 1;
        else counts.set(key, { bucket, severityNumber, serviceName, count: 1 });
      }
      return { counts: [...counts.values()], next };
    },

    async recordsAfter({ after, filter, maxScanned, maxBytes }) {
      const { sql, parameters } = filter ? withinOrganization(filter) : { sql: '', parameters: [] };
      const end = lastScanned.get(after, Math.max(0, maxScanned - 1))?.id ?? head.get()?.last_id ?? after;
      const rows = reader
        .query<RecordRow>(
          // By id, not by the index of listings, which has them in another order.
          `SELECT ${recordColumns} FROM telemetry_record NOT INDEXED WHERE id > ? AND id <= ?${sql} ORDER BY id`,
        )
        .iterate(after, end, ...parameters);
      const records: StoredRecord[] = [];
      let bytes = 0;
      for (const row of rows) {
        const record = toRecord(row);
        if (filter && !hasContent(record, filter)) continue;
        bytes += record.bytes;
        if (bytes > maxBytes && records.length > 0)
          return { records, scannedTo: records.at(-1)?.id ?? after };
        records.push(record);
      }
      return { records, scannedTo: Math.max(after, end) };
    },

    async recordHead() {
      const row = head.get();
      return {
        lastId: row?.last_id ?? 0,
        exportedTo: row?.exported_to ?? 0,
        records: row?.records ?? 0,
        bytes: row?.bytes ?? 0,
      };
    },
  };
}

const latest = Number.MAX_SAFE_INTEGER;

/** Time and id of what the walk lies strictly between; ids begin at 1, so (time, 0) is before all of that time. */
type Bounds = readonly [lowTime: number, lowId: number, highTime: number, highId: number];

function boundsOf(
  { fromReceivedAt = 0, toReceivedAt = latest }: RecordFilter,
  order: 'newest' | 'oldest',
  after: Place | undefined,
): Bounds {
  const low = { receivedAt: fromReceivedAt, id: 0 };
  const high = { receivedAt: toReceivedAt, id: 0 };
  const [from, to] =
    after === undefined
      ? [low, high]
      : order === 'newest'
        ? [low, isBefore(after, high) ? after : high]
        : [isBefore(low, after) ? after : low, high];
  return [from.receivedAt, from.id, to.receivedAt, to.id];
}

function isBefore(one: Place, other: Place): boolean {
  return one.receivedAt < other.receivedAt || (one.receivedAt === other.receivedAt && one.id < other.id);
}

/** The bounds of a piece that ends with `end`. */
function upTo(
  end: Pick<RecordRow, 'received_at' | 'id'> | undefined,
  [lowTime, lowId, highTime, highId]: Bounds,
  order: 'newest' | 'oldest',
): Bounds {
  if (end === undefined) return [lowTime, lowId, highTime, highId];
  return order === 'newest'
    ? [end.received_at, end.id - 1, highTime, highId]
    : [lowTime, lowId, end.received_at, end.id + 1];
}

function withinOrganization(filter: RecordFilter) {
  const { sql, parameters } = conditionsOf(filter);
  return {
    sql: ` AND organization_id = ? AND received_at >= ? AND received_at < ?${sql}`,
    parameters: [
      filter.organizationId,
      filter.fromReceivedAt ?? 0,
      filter.toReceivedAt ?? latest,
      ...parameters,
    ],
  };
}
