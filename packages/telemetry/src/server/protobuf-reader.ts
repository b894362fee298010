/** Bytes that are no protobuf message. */
export class MalformedProtobuf extends Error {
  override readonly name = 'MalformedProtobuf';
}

/** More messages, within one another and side by side, than the reader was made for. */
export class TooManyMessages extends Error {
  override readonly name = 'TooManyMessages';
}

/** Groups in groups that are skipped: protobuf's own parsers stop there, too. */
const maxGroupDepth = 100;

/**
 * Reads the wire format of protobuf (https://protobuf.dev/programming-guides/encoding/), one field after the other:
 * `next` goes to it, then exactly one of the other methods takes its value. All throw `MalformedProtobuf`.
 */
export class ProtobufReader {
  readonly #buffer: Buffer;
  #at = 0;
  /** Where the message that is being read ends. */
  #end: number;
  /** Where the current field begins, with its tag. */
  #from = 0;
  #field = 0;
  #wireType = 0;
  /** Messages that may still be gone into: an empty one takes two bytes, and a hundred times as much where it is decoded. */
  #room: number;

  constructor(bytes: Uint8Array, maxMessages = Infinity) {
    this.#room = maxMessages;
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.byteLength;
  }

  /** Whether the message has another field; if so, it is the current one. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    this.#from = this.#at;
    const tag = this.#varint();
    this.#field = Math.floor(tag / 8);
    this.#wireType = tag % 8;
    if (this.#field === 0 || tag > 0xffff_ffff) throw new MalformedProtobuf('A field has no number.');
    return true;
  }

  /** A known number with another wire type is an unknown field. */
  isField(field: number, wireType: number): boolean {
    return this.#field === field && this.#wireType === wireType;
  }

  /** Goes into the message that is the field's value; `leave` takes what this gives. */
  enter(): number {
    if (this.#room-- <= 0) throw new TooManyMessages('There are too many messages in it.');
    const outer = this.#end;
    this.#end = this.#lengthEnd();
    return outer;
  }

  leave(outer: number): void {
    this.#end = outer;
  }

  /** Bytes that are no UTF-8 become U+FFFD: one bad text must not lose a batch. */
  text(): string {
    const end = this.#lengthEnd();
    const text = this.#buffer.toString('utf8', this.#at, end);
    this.#at = end;
    return text;
  }

  bytes(encoding: 'hex' | 'base64'): string {
    const end = this.#lengthEnd();
    const text = this.#buffer.toString(encoding, this.#at, end);
    this.#at = end;
    return text;
  }

  bool(): boolean {
    return this.#varint() !== 0;
  }

  uint32(): number {
    return this.#lowBits() >>> 0;
  }

  /** Also an enum. */
  int32(): number {
    return this.#lowBits() | 0;
  }

  /** Decimal digits. */
  int64(): string {
    const from = this.#at;
    const rounded = this.#varint();
    if (rounded <= Number.MAX_SAFE_INTEGER) return String(rounded);
    return BigInt.asIntN(64, this.#exact(from)).toString();
  }

  /** Decimal digits. */
  fixed64(): string {
    const at = this.#take(8);
    return this.#buffer.readBigUInt64LE(at).toString();
  }

  fixed32(): number {
    const at = this.#take(4);
    return this.#buffer.readUInt32LE(at);
  }

  /** By protobuf's JSON mapping, which has no number for those that are none. */
  double(): number | 'NaN' | 'Infinity' | '-Infinity' {
    const at = this.#take(8);
    const value = this.#buffer.readDoubleLE(at);
    if (Number.isFinite(value)) return value;
    return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
  }

  /** The field as it stands there, with its tag: of the same memory. */
  raw(): Uint8Array {
    const from = this.#from;
    this.skip();
    return this.#buffer.subarray(from, this.#at);
  }

  /** Passes over the field's value, whatever it is. */
  skip(): void {
    const open: number[] = [];
    for (;;) {
      this.#skipOne(open);
      if (open.length === 0) return;
      if (!this.next()) throw new MalformedProtobuf('A group has no end.');
    }
  }

  #skipOne(open: number[]): void {
    switch (this.#wireType) {
      case 0:
        this.#varint();
        return;
      case 1:
        this.#take(8);
        return;
      case 2:
        this.#at = this.#lengthEnd();
        return;
      case 3:
        if (open.push(this.#field) > maxGroupDepth) throw new MalformedProtobuf('Groups nest too deeply.');
        return;
      case 4:
        if (open.pop() !== this.#field) throw new MalformedProtobuf('A group ends that did not begin.');
        return;
      case 5:
        this.#take(4);
        return;
      default:
        throw new MalformedProtobuf('A field has no wire type.');
    }
  }

  #lengthEnd(): number {
    const length = this.#varint();
    if (length > this.#end - this.#at) throw new MalformedProtobuf('A field is longer than its message.');
    return this.#at + length;
  }

  #take(length: number): number {
    const at = this.#at;
    if (length > this.#end - at) throw new MalformedProtobuf('The message breaks off.');
    this.#at = at + length;
    return at;
  }

  /** Up to ten bytes; rounded beyond 2^53. */
  #varint(): number {
    let value = 0;
    for (let scale = 1, read = 0; read < 10; scale *= 128, read++) {
      if (this.#at >= this.#end) throw new MalformedProtobuf('The message breaks off.');
      const byte = this.#buffer[this.#at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new MalformedProtobuf('A number has no end.');
  }

  /** The lowest 32 bits of a varint: a negative int32 comes in ten bytes. */
  #lowBits(): number {
    const from = this.#at;
    const value = this.#varint();
    return value <= Number.MAX_SAFE_INTEGER ? value : Number(BigInt.asIntN(32, this.#exact(from)));
  }

  /** The varint that was read from there. */
  #exact(from: number): bigint {
    let value = 0n;
    for (let at = this.#at - 1; at >= from; at--)
      value = (value << 7n) | BigInt((this.#buffer[at] as number) & 0x7f);
    return value;
  }
}
