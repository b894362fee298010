import type {
  RecordResource,
  RecordScope,
  StoredAttribute,
  StoredRecord,
  StoredValue,
} from '@sallyport/telemetry/storage';

export interface RecordRow {
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
  readonly bytes: number;
}

export const recordColumns = `*, (SELECT content FROM telemetry_origin WHERE id = resource_id) AS resource,
  (SELECT content FROM telemetry_origin WHERE id = scope_id) AS scope`;

export function toRecord(row: RecordRow): StoredRecord {
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
    bytes: row.bytes,
  };
}

function parse(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
