/** A field's value in its wire format, which is written even where it is the default: a member of a oneof. */
export interface Encoded {
  readonly wireType: 0 | 1 | 2 | 5;
  readonly bytes: Uint8Array;
}

type Value = number | string | Uint8Array | Encoded | undefined;

/** The fields of a message, in the order given; what has its default is not written, as protobuf 3 has it. */
export function encodeMessage(fields: readonly (readonly [number: number, value: Value])[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const [number, value] of fields) {
    if (value === undefined || value === 0 || value === '') continue;
    const { wireType, bytes } = isEncoded(value) ? value : encode(value);
    parts.push(varint(number * 8 + wireType), bytes);
  }
  return Buffer.concat(parts);
}

function isEncoded(value: Exclude<Value, undefined>): value is Encoded {
  return typeof value === 'object' && 'wireType' in value;
}

/** A number is a whole one, from 0 to 2^53. */
export function encode(value: number | string | Uint8Array): Encoded {
  if (typeof value === 'number') return { wireType: 0, bytes: varint(value) };
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return { wireType: 2, bytes: Buffer.concat([varint(bytes.length), bytes]) };
}

export function encodeInt64(value: bigint): Encoded {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return { wireType: 0, bytes: Buffer.from(bytes) };
}

export function encodeFixed64(value: bigint): Encoded {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return { wireType: 1, bytes };
}

export function encodeFixed32(value: number): Encoded {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return { wireType: 5, bytes };
}

export function encodeDouble(value: number): Encoded {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return { wireType: 1, bytes };
}

/** Of a whole number from 0 to 2^53. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}
