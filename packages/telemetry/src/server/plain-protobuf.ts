import { maxDepth } from './any-value.ts';
import { maxAttributes } from './log-record.ts';
import {
  eventNameKey,
  leavePlain,
  maxPlainOriginBytes,
  maxPlainRecordBytes,
  maxPlainValues,
  type PlainCounts,
  PlainRecord,
  serviceNameKey,
  Span,
  type SplitTime,
  standsAt,
} from './plain-form.ts';

/** A time comes in two halves of 32 bits. */
export const protobufTimeBase = 2n ** 32n;

/** Wire types, in the lowest three bits of a tag. The plain form has no field over 15, so that a tag is one byte. */
const varint = 0;
const fixed64 = 1;
const bytes = 2;
const fixed32 = 5;

const tagOf = (field: number, wireType: number) => field * 8 + wireType;

/**
 * Goes through an `ExportLogsServiceRequest` in protobuf (the messages are those of otlp-protobuf.ts), and counts its records; leaves
 * the plain form where it is another one. Texts need no look: what is no UTF-8 becomes U+FFFD.
 */
export function walkPlainProtobuf(of: Uint8Array, counts: PlainCounts): void {
  const walk = new PlainProtobufWalk(of, counts);
  walk.request();
}

class PlainProtobufWalk {
  readonly #bytes: Uint8Array;
  readonly #counts: PlainCounts;
  readonly #record = new PlainRecord();
  #at = 0;
  #messages = 0;
  /** Of the last attribute, and of its value if that is a text. */
  readonly #key = new Span();
  readonly #text = new Span();

  constructor(of: Uint8Array, counts: PlainCounts) {
    this.#bytes = of;
    this.#counts = counts;
  }

  request(): void {
    const end = this.#bytes.length;
    while (this.#at < end) {
      if (this.#tag(end) !== tagOf(1, bytes)) leavePlain();
      this.#resourceLogs(this.#length(end));
    }
    if (this.#messages > maxPlainValues) leavePlain();
  }

  #resourceLogs(end: number): void {
    this.#messages += 1;
    this.#counts.setService(undefined);
    for (let seen = 0; this.#at < end;) {
      const tag = this.#tag(end);
      // What the records are of has to be known when they come.
      if (tag === tagOf(1, bytes) && seen === 0) this.#origin(end, true);
      else if (tag === tagOf(2, bytes)) this.#scopeLogs(this.#length(end));
      else if (tag === tagOf(3, bytes)) this.#schemaUrl(end);
      else leavePlain();
      seen = tag === tagOf(2, bytes) ? seen | 1 : once(seen, tag);
    }
  }

  #scopeLogs(end: number): void {
    this.#messages += 1;
    for (let seen = 0; this.#at < end;) {
      const tag = this.#tag(end);
      if (tag === tagOf(2, bytes)) {
        this.#logRecord(this.#length(end));
        continue;
      }
      seen = once(seen, tag);
      if (tag === tagOf(1, bytes)) this.#origin(end, false);
      else if (tag === tagOf(3, bytes)) this.#schemaUrl(end);
      else leavePlain();
    }
  }

  #schemaUrl(outer: number): void {
    const end = this.#length(outer);
    if (end - this.#at > maxPlainOriginBytes) leavePlain();
    this.#at = end;
  }

  /** A resource (attributes 1, dropped 2) or a scope (name 1, version 2, attributes 3, dropped 4). */
  #origin(outer: number, isResource: boolean): void {
    const end = this.#length(outer);
    if (end - this.#at > maxPlainOriginBytes) leavePlain();
    let hasName = false;
    for (let seen = 0; this.#at < end;) {
      const tag = this.#tag(end);
      if (tag === tagOf(isResource ? 1 : 3, bytes)) {
        this.#pair(end, 1);
        if (!isResource || hasName || !standsAt(this.#bytes, this.#key, serviceNameKey)) continue;
        hasName = true;
        this.#counts.setService(this.#text);
        continue;
      }
      seen = once(seen, tag);
      if (tag === tagOf(isResource ? 2 : 4, varint)) this.#varint(end);
      else if (!isResource && (tag === tagOf(1, bytes) || tag === tagOf(2, bytes)))
        this.#at = this.#length(end);
      else leavePlain();
    }
  }

  #logRecord(end: number): void {
    if (end - this.#at > maxPlainRecordBytes) leavePlain();
    const record = this.#record;
    this.#messages += 1;
    record.clear();
    for (let seen = 0; this.#at < end;) {
      const tag = this.#tag(end);
      if (tag === tagOf(6, bytes)) {
        this.#attribute(end, record);
        continue;
      }
      seen = once(seen, tag);
      this.#memberOfRecord(tag, end, record);
    }
    this.#counts.addRecord(record);
  }

  #memberOfRecord(tag: number, end: number, record: PlainRecord): void {
    switch (tag) {
      case tagOf(1, fixed64):
        return this.#time(end, record.time);
      case tagOf(11, fixed64):
        return this.#time(end, record.observed);
      case tagOf(2, varint):
        record.severity = this.#tag(end); // one byte, as a tag is
        if (record.severity > 24) leavePlain();
        return;
      case tagOf(3, bytes):
        this.#at = this.#length(end);
        return;
      case tagOf(5, bytes):
        return this.#value(end, 1);
      case tagOf(7, varint):
        return this.#varint(end);
      case tagOf(8, fixed32):
        return this.#skip(4, end);
      case tagOf(9, bytes):
        return this.#id(end, 16);
      case tagOf(10, bytes):
        return this.#id(end, 8);
      case tagOf(12, bytes): {
        const to = this.#length(end);
        record.eventName.set(this.#at, to);
        this.#at = to;
        return;
      }
      default:
        leavePlain();
    }
  }

  #attribute(end: number, record: PlainRecord): void {
    this.#pair(end, 1);
    if (++record.attributes > maxAttributes) leavePlain();
    if (record.hasEventAttribute || !standsAt(this.#bytes, this.#key, eventNameKey)) return;
    record.hasEventAttribute = true;
    record.eventAttribute.set(this.#text.from, this.#text.to);
  }

  /** A KeyValue, its key before its value. */
  #pair(outer: number, depth: number): void {
    const end = this.#length(outer);
    this.#messages += 1;
    if (this.#tag(end) !== tagOf(1, bytes)) leavePlain();
    const to = this.#length(end);
    const from = this.#at;
    if (from === to) leavePlain();
    this.#at = to;
    if (to === end) this.#text.clear();
    else {
      if (this.#tag(end) !== tagOf(2, bytes)) leavePlain();
      this.#value(end, depth);
      if (this.#at !== end) leavePlain();
    }
    this.#key.set(from, to);
  }

  /** An AnyValue of one member, or of none. */
  #value(outer: number, depth: number): void {
    if (depth > maxDepth) leavePlain();
    this.#messages += 1;
    const end = this.#length(outer);
    let [from, to] = [-1, -1];
    if (this.#at < end) {
      const tag = this.#tag(end);
      if (tag === tagOf(1, bytes)) {
        to = this.#length(end);
        from = this.#at;
        this.#at = to;
      } else this.#memberOfValue(tag, end, depth);
      if (this.#at !== end) leavePlain();
    }
    this.#text.set(from, to);
  }

  #memberOfValue(tag: number, end: number, depth: number): void {
    switch (tag) {
      case tagOf(2, varint):
      case tagOf(3, varint):
        return this.#varint(end);
      case tagOf(4, fixed64):
        return this.#skip(8, end);
      case tagOf(5, bytes):
      case tagOf(6, bytes):
        return this.#list(tag === tagOf(6, bytes), this.#length(end), depth + 1);
      case tagOf(7, bytes):
        this.#at = this.#length(end);
        return;
      default:
        leavePlain();
    }
  }

  #list(isOfPairs: boolean, end: number, depth: number): void {
    while (this.#at < end) {
      if (this.#tag(end) !== tagOf(1, bytes)) leavePlain();
      if (isOfPairs) this.#pair(end, depth);
      else this.#value(end, depth);
    }
  }

  #id(outer: number, length: number): void {
    const end = this.#length(outer);
    if (end !== this.#at && end - this.#at !== length) leavePlain();
    this.#at = end;
  }

  #time(end: number, time: SplitTime): void {
    const at = this.#at;
    this.#skip(8, end);
    time.low = this.#uint32(at);
    time.high = this.#uint32(at + 4);
  }

  #uint32(at: number): number {
    const of = this.#bytes;
    const [one, two, three, four] = [of[at] ?? 0, of[at + 1] ?? 0, of[at + 2] ?? 0, of[at + 3] ?? 0];
    return (one | (two << 8) | (three << 16) | (four << 24)) >>> 0;
  }

  #skip(length: number, end: number): void {
    if (length > end - this.#at) leavePlain();
    this.#at += length;
  }

  /** One byte. */
  #tag(end: number): number {
    if (this.#at >= end) leavePlain();
    const tag = this.#bytes[this.#at++] as number;
    if (tag >= 0x80) leavePlain();
    return tag;
  }

  /** Where the field ends whose length comes next: what is plain has lengths of three bytes at most. */
  #length(end: number): number {
    let length = 0;
    for (let shift = 0; shift < 21; shift += 7) {
      if (this.#at >= end) leavePlain();
      const byte = this.#bytes[this.#at++] as number;
      length |= (byte & 0x7f) << shift;
      if (byte >= 0x80) continue;
      if (length > end - this.#at) leavePlain();
      return this.#at + length;
    }
    return leavePlain();
  }

  /** Whatever it says: numbers of more bits than their type has are cut. */
  #varint(end: number): void {
    for (let read = 0; read < 10; read++) {
      if (this.#at >= end) leavePlain();
      if ((this.#bytes[this.#at++] as number) < 0x80) return;
    }
    leavePlain();
  }
}

/** Notes that a field was there: messages that come twice are merged. */
function once(seen: number, tag: number): number {
  const bit = 1 << (tag >> 3);
  if ((seen & bit) !== 0) leavePlain();
  return seen | bit;
}
