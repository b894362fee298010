import { maxDepth } from './any-value.ts';
import { ProtobufReader } from './protobuf-reader.ts';

// The messages of opentelemetry/proto/{collector/logs,logs,resource,common}/v1, by field number. Each function reads one
// message into the form of OTLP's JSON, which one set of rules judges: 64-bit integers are decimal digits, ids are hex.
// A message that comes twice is merged, of several members of a oneof the last one stands, and lists go on.

type Mutable = Record<string, unknown>;

/** `ExportLogsServiceRequest` in its JSON form. Throws `MalformedProtobuf`, and `TooManyMessages` where it has more. */
export function decodeLogsRequest(bytes: Uint8Array, maxMessages = Infinity): unknown {
  const reader = new ProtobufReader(bytes, maxMessages);
  const resourceLogs: unknown[] = [];
  while (reader.next())
    if (reader.isField(1, 2)) resourceLogs.push(readResourceLogs(reader));
    else reader.skip();
  return { resourceLogs };
}

function readResourceLogs(reader: ProtobufReader): unknown {
  const scopeLogs: unknown[] = [];
  const resourceLogs: Mutable = { scopeLogs };
  const outer = reader.enter();
  while (reader.next())
    if (reader.isField(1, 2)) {
      const resource = (resourceLogs['resource'] ??= { attributes: [] }) as Mutable;
      readResource(reader, resource);
    } else if (reader.isField(2, 2)) scopeLogs.push(readScopeLogs(reader));
    else if (reader.isField(3, 2)) resourceLogs['schemaUrl'] = reader.text();
    else reader.skip();
  reader.leave(outer);
  return resourceLogs;
}

function readResource(reader: ProtobufReader, resource: Mutable): void {
  const outer = reader.enter();
  while (reader.next())
    if (reader.isField(1, 2)) readKeyValue(reader, resource['attributes'] as unknown[], 1);
    else if (reader.isField(2, 0)) resource['droppedAttributesCount'] = reader.uint32();
    else reader.skip();
  reader.leave(outer);
}

function readScopeLogs(reader: ProtobufReader): unknown {
  const logRecords: unknown[] = [];
  const scopeLogs: Mutable = { logRecords };
  const outer = reader.enter();
  while (reader.next())
    if (reader.isField(1, 2)) {
      const scope = (scopeLogs['scope'] ??= { attributes: [] }) as Mutable;
      readScope(reader, scope);
    } else if (reader.isField(2, 2)) logRecords.push(readLogRecord(reader));
    else if (reader.isField(3, 2)) scopeLogs['schemaUrl'] = reader.text();
    else reader.skip();
  reader.leave(outer);
  return scopeLogs;
}

function readScope(reader: ProtobufReader, scope: Mutable): void {
  const outer = reader.enter();
  while (reader.next())
    if (reader.isField(1, 2)) scope['name'] = reader.text();
    else if (reader.isField(2, 2)) scope['version'] = reader.text();
    else if (reader.isField(3, 2)) readKeyValue(reader, scope['attributes'] as unknown[], 1);
    else if (reader.isField(4, 0)) scope['droppedAttributesCount'] = reader.uint32();
    else reader.skip();
  reader.leave(outer);
}

function readLogRecord(reader: ProtobufReader): unknown {
  const attributes: unknown[] = [];
  // All members from the start, in one order: objects of one shape are made and read several times as fast.
  const record = {
    timeUnixNano: '0',
    severityNumber: 0,
    severityText: '',
    body: undefined as unknown,
    attributes,
    droppedAttributesCount: 0,
    flags: 0,
    traceId: '',
    spanId: '',
    observedTimeUnixNano: '0',
    eventName: '',
  };
  const outer = reader.enter();
  while (reader.next())
    if (reader.isField(1, 1)) record.timeUnixNano = reader.fixed64();
    else if (reader.isField(2, 0)) record.severityNumber = reader.int32();
    else if (reader.isField(3, 2)) record.severityText = reader.text();
    else if (reader.isField(5, 2)) record.body = readAnyValue(reader, record.body, 1);
    else if (reader.isField(6, 2)) readKeyValue(reader, attributes, 1);
    else if (reader.isField(7, 0)) record.droppedAttributesCount = reader.uint32();
    else if (reader.isField(8, 5)) record.flags = reader.fixed32();
    else if (reader.isField(9, 2)) record.traceId = reader.bytes('hex');
    else if (reader.isField(10, 2)) record.spanId = reader.bytes('hex');
    else if (reader.isField(11, 1)) record.observedTimeUnixNano = reader.fixed64();
    else if (reader.isField(12, 2)) record.eventName = reader.text();
    else reader.skip();
  reader.leave(outer);
  return record;
}

function readKeyValue(reader: ProtobufReader, into: unknown[], depth: number): void {
  const keyValue = { key: '', value: undefined as unknown };
  const outer = reader.enter();
  while (reader.next())
    if (reader.isField(1, 2)) keyValue.key = reader.text();
    else if (reader.isField(2, 2)) keyValue.value = readAnyValue(reader, keyValue.value, depth);
    else reader.skip();
  reader.leave(outer);
  into.push(keyValue);
}

/** Reads on into `value`. What lies deeper than the rules allow is not read: that it is there is enough to refuse it. */
function readAnyValue(reader: ProtobufReader, value: unknown, depth: number): unknown {
  if (depth > maxDepth) {
    reader.skip();
    return {};
  }
  let read = (value ?? {}) as Mutable;
  const outer = reader.enter();
  while (reader.next())
    if (reader.isField(1, 2)) read = { stringValue: reader.text() };
    else if (reader.isField(2, 0)) read = { boolValue: reader.bool() };
    else if (reader.isField(3, 0)) read = { intValue: reader.int64() };
    else if (reader.isField(4, 1)) read = { doubleValue: reader.double() };
    else if (reader.isField(5, 2)) {
      const list = (read['arrayValue'] ?? { values: [] }) as { values: unknown[] };
      readList(reader, list.values, depth + 1);
      read = { arrayValue: list };
    } else if (reader.isField(6, 2)) {
      const list = (read['kvlistValue'] ?? { values: [] }) as { values: unknown[] };
      readPairs(reader, list.values, depth + 1);
      read = { kvlistValue: list };
    } else if (reader.isField(7, 2)) read = { bytesValue: reader.bytes('base64') };
    else reader.skip();
  reader.leave(outer);
  return read;
}

function readList(reader: ProtobufReader, into: unknown[], depth: number): void {
  const outer = reader.enter();
  while (reader.next())
    if (reader.isField(1, 2)) into.push(readAnyValue(reader, undefined, depth));
    else reader.skip();
  reader.leave(outer);
}

function readPairs(reader: ProtobufReader, into: unknown[], depth: number): void {
  const outer = reader.enter();
  while (reader.next())
    if (reader.isField(1, 2)) readKeyValue(reader, into, depth);
    else reader.skip();
  reader.leave(outer);
}
