// An encoder of OTLP's protobuf, written from the .proto files apart from the decoder that it tests.

type Bytes = Buffer<ArrayBuffer>;

export interface OtlpValue {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: string;
  doubleValue?: number | string;
  bytesValue?: string;
  arrayValue?: { values: OtlpValue[] };
  kvlistValue?: { values: OtlpKeyValue[] };
}
export interface OtlpKeyValue {
  key: string;
  value?: OtlpValue;
}
export interface OtlpRecord {
  timeUnixNano?: string;
  observedTimeUnixNano?: string;
  severityNumber?: number;
  severityText?: string;
  body?: OtlpValue;
  attributes?: OtlpKeyValue[];
  droppedAttributesCount?: number;
  flags?: number;
  traceId?: string;
  spanId?: string;
  eventName?: string;
}
export interface OtlpResource {
  attributes?: OtlpKeyValue[];
  droppedAttributesCount?: number;
}
export interface OtlpScope extends OtlpResource {
  name?: string;
  version?: string;
}
export interface LogsRequest {
  resourceLogs: {
    resource?: OtlpResource;
    schemaUrl?: string;
    scopeLogs: { scope?: OtlpScope; schemaUrl?: string; logRecords: OtlpRecord[] }[];
  }[];
}

/** A field with a number, by its wire type; `undefined` is left out. */
export const varint = (field: number, value: bigint | number | undefined): Bytes =>
  value === undefined ? none : Buffer.concat([tag(field, 0), raw(BigInt(value))]);
export const bytes = (field: number, value: Uint8Array | undefined): Bytes =>
  value === undefined ? none : Buffer.concat([tag(field, 2), raw(BigInt(value.length)), value]);
export const text = (field: number, value: string | undefined): Bytes =>
  bytes(field, value === undefined ? undefined : Buffer.from(value));
export const fixed64 = (field: number, value: bigint | undefined): Bytes => {
  if (value === undefined) return none;
  const written = Buffer.alloc(8);
  written.writeBigUInt64LE(value);
  return Buffer.concat([tag(field, 1), written]);
};
export const fixed32 = (field: number, value: number | undefined): Bytes => {
  if (value === undefined) return none;
  const written = Buffer.alloc(4);
  written.writeUInt32LE(value);
  return Buffer.concat([tag(field, 5), written]);
};
export const group = (field: number, ...content: Bytes[]): Bytes =>
  Buffer.concat([tag(field, 3), ...content, tag(field, 4)]);

const none = Buffer.alloc(0);
const tag = (field: number, wireType: number) => raw(BigInt(field * 8 + wireType));

function raw(value: bigint): Bytes {
  const written: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest >= 128n; rest >>= 7n) written.push(Number(rest & 127n) | 128);
  written.push(Number(rest));
  return Buffer.from(written);
}

const all = <T>(items: readonly T[] | undefined, encode: (item: T) => Bytes) =>
  Buffer.concat((items ?? []).map(encode));

/** Of `ExportLogsServiceRequest`. */
export function encodeLogsRequest({ resourceLogs }: LogsRequest): Bytes {
  return all(resourceLogs, ({ resource, schemaUrl, scopeLogs }) =>
    bytes(
      1,
      Buffer.concat([
        bytes(1, resource && encodeResource(resource)),
        all(scopeLogs, (of) =>
          bytes(
            2,
            Buffer.concat([
              bytes(1, of.scope && encodeScope(of.scope)),
              all(of.logRecords, (record) => bytes(2, encodeRecord(record))),
              text(3, of.schemaUrl),
            ]),
          ),
        ),
        text(3, schemaUrl),
      ]),
    ),
  );
}

const encodeResource = ({ attributes, droppedAttributesCount }: OtlpResource) =>
  Buffer.concat([all(attributes, (pair) => bytes(1, encodePair(pair))), varint(2, droppedAttributesCount)]);

const encodeScope = ({ name, version, attributes, droppedAttributesCount }: OtlpScope) =>
  Buffer.concat([
    text(1, name),
    text(2, version),
    all(attributes, (pair) => bytes(3, encodePair(pair))),
    varint(4, droppedAttributesCount),
  ]);

export function encodeRecord(record: OtlpRecord): Bytes {
  const big = (digits: string | undefined) => (digits === undefined ? undefined : BigInt(digits));
  const hex = (id: string | undefined) => (id === undefined ? undefined : Buffer.from(id, 'hex'));
  return Buffer.concat([
    fixed64(1, big(record.timeUnixNano)),
    varint(2, record.severityNumber),
    text(3, record.severityText),
    bytes(5, record.body && encodeValue(record.body)),
    all(record.attributes, (pair) => bytes(6, encodePair(pair))),
    varint(7, record.droppedAttributesCount),
    fixed32(8, record.flags),
    bytes(9, hex(record.traceId)),
    bytes(10, hex(record.spanId)),
    fixed64(11, big(record.observedTimeUnixNano)),
    text(12, record.eventName),
  ]);
}

const encodePair = ({ key, value }: OtlpKeyValue): Bytes =>
  Buffer.concat([text(1, key), bytes(2, value && encodeValue(value))]);

export function encodeValue(value: OtlpValue): Bytes {
  const { stringValue, boolValue, intValue, doubleValue, bytesValue, arrayValue, kvlistValue } = value;
  if (stringValue !== undefined) return text(1, stringValue);
  if (boolValue !== undefined) return varint(2, Number(boolValue));
  if (intValue !== undefined) return varint(3, BigInt(intValue));
  if (doubleValue !== undefined) {
    const written = Buffer.alloc(8);
    written.writeDoubleLE(Number(doubleValue));
    return fixed64(4, written.readBigUInt64LE());
  }
  if (arrayValue)
    return bytes(
      5,
      all(arrayValue.values, (item) => bytes(1, encodeValue(item))),
    );
  if (kvlistValue)
    return bytes(
      6,
      all(kvlistValue.values, (pair) => bytes(1, encodePair(pair))),
    );
  return bytesValue === undefined ? none : bytes(7, Buffer.from(bytesValue, 'base64'));
}
