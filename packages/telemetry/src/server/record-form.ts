import { toTimestamp } from '@sallyport/core';
import type { TelemetryRecord as ShownRecord } from '@sallyport/core/contract';
import type { TelemetryRecord } from './log-record.ts';
import type { RecordResource, RecordScope } from './logs-request.ts';
import type { StoredRecord } from './ports.ts';

/** A record as the service shows it; with the address of whose it is, where those are looked up. */
export function toShown(stored: StoredRecord, emails?: ReadonlyMap<string, string>): ShownRecord {
  const { id, receivedAt, accountId, serviceName, skewMs, resource, scope } = stored;
  return {
    id,
    received_at: toTimestamp(receivedAt),
    account_id: accountId,
    ...(emails && { account_email: emails.get(accountId) ?? null }),
    service_name: serviceName,
    ...(skewMs !== null && { skew_ms: skewMs }),
    record: toLogRecord(stored),
    ...(resource && { resource: toOrigin(resource) }),
    ...(scope && { scope: toOrigin(scope) }),
  } as ShownRecord;
}

/** OTLP's LogRecord in its JSON form; what has its default is left out. */
export function toLogRecord(record: TelemetryRecord): Readonly<Record<string, unknown>> {
  const { timeUnixNano, severityNumber, attributes } = record;
  return {
    timeUnixNano,
    ...(record.observedTimeUnixNano !== null && { observedTimeUnixNano: record.observedTimeUnixNano }),
    severityNumber,
    ...(record.severityText !== '' && { severityText: record.severityText }),
    ...(record.body !== null && { body: record.body }),
    attributes,
    ...(record.droppedAttributesCount > 0 && { droppedAttributesCount: record.droppedAttributesCount }),
    ...(record.flags > 0 && { flags: record.flags }),
    ...(record.traceId !== null && { traceId: record.traceId }),
    ...(record.spanId !== null && { spanId: record.spanId }),
    ...(record.eventName !== null && { eventName: record.eventName }),
  };
}

/** OTLP's Resource or InstrumentationScope, and beside its members the URL of its schema. */
function toOrigin(origin: RecordResource | RecordScope): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(origin).filter(([, value]) => value !== '' && value !== 0));
}
