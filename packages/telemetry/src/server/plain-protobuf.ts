import { maxAttributes } from './log-record.ts';
import {
  eventNameKey,
  leavePlain,
  maxPlainOriginBytes,
  maxPlainRecordBytes,
  maxPlainValues,
  once,
  type PlainCounts,
  PlainRecord,
  serviceNameKey,
  type SplitTime,
  standsAt,
} from './plain-form.ts';
import { PlainProtobufValues } from './plain-protobuf-values.ts';
import { bytes, fieldOf, fixed32, fixed64, ProtobufScanner, tagOf, varint } from './protobuf-scanner.ts';

/** A time comes in two halves of 32 bits. */
export const protobufTimeBase = 2n ** 32n;

/**
 * Goes through an `ExportLogsServiceRequest` in protobuf (the messages are those of otlp-protobuf.ts), and counts its records; leaves
 * the plain form where it is another one. Texts need no look: what is no UTF-8 becomes U+FFFD.
 */
export function walkPlainProtobuf(of: Uint8Array, counts: PlainCounts): void {
  const walk = new PlainProtobufWalk(of, counts);
  walk.request();
}

class PlainProtobufWalk {
  readonly #scanner: ProtobufScanner;
  readonly #values: PlainProtobufValues;
  readonly #counts: PlainCounts;
  readonly #record = new PlainRecord();

  constructor(of: Uint8Array, counts: PlainCounts) {
    this.#scanner = new ProtobufScanner(of);
    this.#values = new PlainProtobufValues(this.#scanner);
    this.#counts = counts;
  }

  request(): void {
    const scanner = this.#scanner;
    const end = scanner.bytes.length;
    while (scanner.at < end) {
      if (scanner.tag(end) !== tagOf(1, bytes)) leavePlain();
      this.#resourceLogs(scanner.length(end));
    }
    if (scanner.messages > maxPlainValues) leavePlain();
  }

  #resourceLogs(end: number): void {
    const scanner = this.#scanner;
    scanner.messages += 1;
    this.#counts.setService(undefined);
    for (let seen = 0; scanner.at < end;) {
      const tag = scanner.tag(end);
      // What the records are of has to be known when they come.
      if (tag === tagOf(1, bytes) && seen === 0) this.#origin(end, true);
      else if (tag === tagOf(2, bytes)) this.#scopeLogs(scanner.length(end));
      else if (tag === tagOf(3, bytes)) this.#schemaUrl(end);
      else leavePlain();
      seen = tag === tagOf(2, bytes) ? seen | 1 : once(seen, fieldOf(tag));
    }
  }

  #scopeLogs(end: number): void {
    const scanner = this.#scanner;
    scanner.messages += 1;
    for (let seen = 0; scanner.at < end;) {
      const tag = scanner.tag(end);
      if (tag === tagOf(2, bytes)) {
        this.#logRecord(scanner.length(end));
        continue;
      }
      seen = once(seen, fieldOf(tag));
      if (tag === tagOf(1, bytes)) this.#origin(end, false);
      else if (tag === tagOf(3, bytes)) this.#schemaUrl(end);
      else leavePlain();
    }
  }

  #schemaUrl(end: number): void {
    const scanner = this.#scanner;
    const to = scanner.length(end);
    if (to - scanner.at > maxPlainOriginBytes) leavePlain();
    scanner.at = to;
  }

  /** A resource (attributes 1, dropped 2) or a scope (name 1, version 2, attributes 3, dropped 4). */
  #origin(outer: number, isResource: boolean): void {
    const scanner = this.#scanner;
    const end = scanner.length(outer);
    if (end - scanner.at > maxPlainOriginBytes) leavePlain();
    let hasName = false;
    for (let seen = 0; scanner.at < end;) {
      const tag = scanner.tag(end);
      if (tag === tagOf(isResource ? 1 : 3, bytes)) {
        this.#values.pair(end, 1);
        if (!isResource || hasName || !standsAt(scanner.bytes, this.#values.key, serviceNameKey)) continue;
        hasName = true;
        this.#counts.setService(this.#values.text);
        continue;
      }
      seen = once(seen, fieldOf(tag));
      if (tag === tagOf(isResource ? 2 : 4, varint)) scanner.skipVarint(end);
      else if (!isResource && (tag === tagOf(1, bytes) || tag === tagOf(2, bytes))) scanner.skipField(end);
      else leavePlain();
    }
  }

  #logRecord(end: number): void {
    const scanner = this.#scanner;
    if (end - scanner.at > maxPlainRecordBytes) leavePlain();
    const record = this.#record;
    scanner.messages += 1;
    record.clear();
    for (let seen = 0; scanner.at < end;) {
      const tag = scanner.tag(end);
      if (tag === tagOf(6, bytes)) {
        this.#attribute(end, record);
        continue;
      }
      seen = once(seen, fieldOf(tag));
      this.#memberOfRecord(tag, end, record);
    }
    this.#counts.addRecord(record);
  }

  #memberOfRecord(tag: number, end: number, record: PlainRecord): void {
    const scanner = this.#scanner;
    switch (tag) {
      case tagOf(1, fixed64):
        return this.#time(end, record.time);
      case tagOf(11, fixed64):
        return this.#time(end, record.observed);
      case tagOf(2, varint):
        record.severity = scanner.tag(end); // one byte, as a tag is
        if (record.severity > 24) leavePlain();
        return;
      case tagOf(3, bytes):
        return scanner.skipField(end);
      case tagOf(5, bytes):
        return this.#values.value(end, 1);
      case tagOf(7, varint):
        return scanner.skipVarint(end);
      case tagOf(8, fixed32):
        return scanner.skip(4, end);
      case tagOf(9, bytes):
        return this.#id(end, 16);
      case tagOf(10, bytes):
        return this.#id(end, 8);
      case tagOf(12, bytes): {
        const to = scanner.length(end);
        record.eventName.set(scanner.at, to);
        scanner.at = to;
        return;
      }
      default:
        leavePlain();
    }
  }

  #attribute(end: number, record: PlainRecord): void {
    const values = this.#values;
    values.pair(end, 1);
    if (++record.attributes > maxAttributes) leavePlain();
    if (record.hasEventAttribute || !standsAt(this.#scanner.bytes, values.key, eventNameKey)) return;
    record.hasEventAttribute = true;
    record.eventAttribute.set(values.text.from, values.text.to);
  }

  #id(outer: number, length: number): void {
    const scanner = this.#scanner;
    const end = scanner.length(outer);
    if (end !== scanner.at && end - scanner.at !== length) leavePlain();
    scanner.at = end;
  }

  #time(end: number, time: SplitTime): void {
    const { at } = this.#scanner;
    this.#scanner.skip(8, end);
    time.low = this.#uint32(at);
    time.high = this.#uint32(at + 4);
  }

  #uint32(at: number): number {
    const of = this.#scanner.bytes;
    const [one, two, three, four] = [of[at] ?? 0, of[at + 1] ?? 0, of[at + 2] ?? 0, of[at + 3] ?? 0];
    return (one | (two << 8) | (three << 16) | (four << 24)) >>> 0;
  }
}
