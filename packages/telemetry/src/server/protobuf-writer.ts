/** The fields of a small message, in the order given; what has its default is not written, as protobuf 3 has it. */
export function encodeMessage(
  fields: readonly (readonly [number: number, value: number | string | Uint8Array])[],
): Buffer {
  const parts: Uint8Array[] = [];
  for (const [number, value] of fields) {
    if (value === 0 || value === '') continue;
    if (typeof value === 'number') {
      parts.push(varint(number * 8), varint(value));
      continue;
    }
    const bytes = typeof value === 'string' ? Buffer.from(value) : value;
    parts.push(varint(number * 8 + 2), varint(bytes.length), bytes);
  }
  return Buffer.concat(parts);
}

/** Of a whole number from 0 to 2^53. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return Buffer.from(bytes);
}
