import type { StoredAttribute, StoredValue } from '../any-value.ts';
import type { TelemetryRecord } from '../log-record.ts';
import type { RecordGroup, RecordResource, RecordScope } from '../logs-request.ts';
import type { OtlpEncoding } from '../otlp-answer.ts';
import {
  encode,
  encodeDouble,
  encodeFixed32,
  encodeFixed64,
  encodeInt64,
  encodeMessage,
  type Encoded,
} from '../protobuf-writer.ts';
import { toLogRecord } from '../record-form.ts';

type Groups = readonly Omit<RecordGroup, 'serviceName'>[];

/** `ExportLogsServiceRequest` of the groups, in either encoding. */
export function encodeLogs(groups: Groups, encoding: OtlpEncoding): Buffer {
  if (encoding === 'protobuf') return encodeMessage(groups.map((group) => [1, resourceLogs(group)]));
  const shown = groups.map(({ resource, scope, records }) => ({
    ...(resource && { resource: originForm(resource), schemaUrl: resource.schemaUrl }),
    scopeLogs: [
      {
        ...(scope && {
          scope: { ...originForm(scope), name: scope.name, version: scope.version },
          schemaUrl: scope.schemaUrl,
        }),
        logRecords: records.map(toLogRecord),
      },
    ],
  }));
  return Buffer.from(JSON.stringify({ resourceLogs: shown }));
}

function originForm({ attributes, droppedAttributesCount }: RecordResource) {
  return { attributes, droppedAttributesCount };
}

// The messages of opentelemetry/proto/{collector/logs,logs,resource,common}/v1, by field number.

function resourceLogs({ resource, scope, records }: Groups[number]): Buffer {
  return encodeMessage([
    [1, resource ? resourceMessage(resource) : undefined],
    [
      2,
      encodeMessage([
        [1, scope ? scopeMessage(scope) : undefined],
        ...records.map((record) => [2, logRecord(record)] as const),
        [3, scope?.schemaUrl],
      ]),
    ],
    [3, resource?.schemaUrl],
  ]);
}

function resourceMessage({ attributes, droppedAttributesCount }: RecordResource): Buffer {
  return encodeMessage([...keyValues(1, attributes), [2, droppedAttributesCount]]);
}

function scopeMessage({ name, version, attributes, droppedAttributesCount }: RecordScope): Buffer {
  return encodeMessage([[1, name], [2, version], ...keyValues(3, attributes), [4, droppedAttributesCount]]);
}

function logRecord(record: TelemetryRecord): Buffer {
  const { observedTimeUnixNano: observed, traceId, spanId, flags } = record;
  return encodeMessage([
    [1, encodeFixed64(BigInt(record.timeUnixNano))],
    [2, record.severityNumber],
    [3, record.severityText],
    [5, record.body === null ? undefined : anyValue(record.body)],
    ...keyValues(6, record.attributes),
    [7, record.droppedAttributesCount],
    [8, flags === 0 ? undefined : encodeFixed32(flags)],
    [9, traceId === null ? undefined : Buffer.from(traceId, 'hex')],
    [10, spanId === null ? undefined : Buffer.from(spanId, 'hex')],
    [11, observed === null ? undefined : encodeFixed64(BigInt(observed))],
    [12, record.eventName ?? undefined],
  ]);
}

function keyValues(field: number, pairs: readonly StoredAttribute[]): (readonly [number, Buffer])[] {
  return pairs.map(({ key, value }) => [
    field,
    encodeMessage([
      [1, key],
      [2, anyValue(value)],
    ]),
  ]);
}

function anyValue(value: StoredValue): Buffer {
  const member = memberOf(value);
  return encodeMessage(member ? [member] : []);
}

/** The member that is set is written whatever it is: an empty text is not the same as none. */
function memberOf(value: StoredValue): readonly [number, Encoded] | undefined {
  if ('stringValue' in value) return [1, encode(value.stringValue)];
  if ('boolValue' in value) return [2, encode(value.boolValue ? 1 : 0)];
  if ('intValue' in value) return [3, encodeInt64(BigInt(value.intValue))];
  if ('doubleValue' in value) return [4, encodeDouble(Number(value.doubleValue))];
  if ('arrayValue' in value)
    return [5, encode(encodeMessage(value.arrayValue.values.map((item) => [1, anyValue(item)] as const)))];
  if ('kvlistValue' in value) return [6, encode(encodeMessage(keyValues(1, value.kvlistValue.values)))];
  if ('bytesValue' in value) return [7, encode(Buffer.from(value.bytesValue, 'base64'))];
  return undefined;
}
