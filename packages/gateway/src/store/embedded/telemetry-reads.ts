import type {
  RecordResource,
  RecordScope,
  StoredAttribute,
  StoredRecord,
  StoredValue,
  TelemetryReads,
} from '@sallyport/telemetry/storage';
import type { Reader } from './reader.ts';

interface RecordRow {
  readonly id: number;
  readonly organization_id: string;
  readonly account_id: string;
  readonly service_name: string;
  readonly received_at: number;
  readonly event_name: string | null;
  readonly time_unix_nano: string;
  readonly observed_time_unix_nano: string | null;
  readonly severity_number: number;
  readonly severity_text: string;
  readonly body: string | null;
  readonly attributes: string;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly resource: string | null;
  readonly scope: string | null;
  readonly dropped_attributes_count: number;
  readonly flags: number;
  readonly skew_ms: number | null;
}

/** The telemetry's bounded reads on SQLite. */
export function telemetryReads(reader: Reader): TelemetryReads {
  const records = reader.query<RecordRow>(
    `SELECT *, (SELECT content FROM telemetry_origin WHERE id = resource_id) AS resource,
       (SELECT content FROM telemetry_origin WHERE id = scope_id) AS scope
     FROM telemetry_record
     WHERE organization_id = ? AND (received_at, id) > (?, ?) AND received_at >= ? AND received_at < ?
       AND severity_number >= ? AND (?7 IS NULL OR service_name = ?7) AND (?8 IS NULL OR event_name = ?8)
     ORDER BY received_at, id LIMIT ?9`,
  );
  const endOfSpan = reader.query<{ readonly id: number }>(
    'SELECT id FROM telemetry_record WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?',
  );
  const ofAccount = reader.query<RecordRow>(
    `SELECT *, (SELECT content FROM telemetry_origin WHERE id = resource_id) AS resource,
       (SELECT content FROM telemetry_origin WHERE id = scope_id) AS scope
     FROM telemetry_record WHERE id > ? AND id <= ? AND account_id = ? ORDER BY id`,
  );
  return {
    async accountRecords({ accountId, after, span }) {
      const scannedTo = endOfSpan.get(after, span - 1)?.id;
      return {
        records: ofAccount.all(after, scannedTo ?? Number.MAX_SAFE_INTEGER, accountId).map(toRecord),
        scannedTo,
      };
    },
    async queryRecords({ organizationId, limit, ...query }) {
      const rows = records.all(
        organizationId,
        query.after?.receivedAt ?? -1,
        query.after?.id ?? 0,
        query.fromReceivedAt ?? 0,
        query.toReceivedAt ?? Number.MAX_SAFE_INTEGER,
        query.minSeverity ?? 0,
        query.serviceName ?? null,
        query.eventName ?? null,
        limit,
      );
      return rows.map(toRecord);
    },
  };
}

function toRecord(row: RecordRow): StoredRecord {
  return {
    id: row.id,
    organizationId: row.organization_id,
    accountId: row.account_id,
    serviceName: row.service_name,
    receivedAt: row.received_at,
    eventName: row.event_name,
    timeUnixNano: row.time_unix_nano,
    observedTimeUnixNano: row.observed_time_unix_nano,
    severityNumber: row.severity_number,
    severityText: row.severity_text,
    body: parse(row.body) as StoredValue | null,
    attributes: JSON.parse(row.attributes) as StoredAttribute[],
    traceId: row.trace_id,
    spanId: row.span_id,
    resource: parse(row.resource) as RecordResource | null,
    scope: parse(row.scope) as RecordScope | null,
    droppedAttributesCount: row.dropped_attributes_count,
    flags: row.flags,
    skewMs: row.skew_ms,
  };
}

function parse(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
