import { maxDepth } from './any-value.ts';
import { leavePlain, Span } from './plain-form.ts';
import { bytes, fixed64, type ProtobufScanner, tagOf, varint } from './protobuf-scanner.ts';

/** Goes through the attributes and values of a request in protobuf. */
export class PlainProtobufValues {
  /** Of the last attribute, and of its value if that is a text. */
  readonly key = new Span();
  readonly text = new Span();
  readonly #scanner: ProtobufScanner;

  constructor(scanner: ProtobufScanner) {
    this.#scanner = scanner;
  }

  /** A KeyValue, its key before its value; tells of it in `key` and `text`. */
  pair(outer: number, depth: number): void {
    const scanner = this.#scanner;
    const end = scanner.length(outer);
    scanner.messages += 1;
    if (scanner.tag(end) !== tagOf(1, bytes)) leavePlain();
    const to = scanner.length(end);
    const from = scanner.at;
    if (from === to) leavePlain();
    scanner.at = to;
    if (to === end) this.text.clear();
    else {
      if (scanner.tag(end) !== tagOf(2, bytes)) leavePlain();
      this.value(end, depth);
      if (scanner.at !== end) leavePlain();
    }
    this.key.set(from, to);
  }

  /** An AnyValue of one member, or of none. */
  value(outer: number, depth: number): void {
    if (depth > maxDepth) leavePlain();
    const scanner = this.#scanner;
    scanner.messages += 1;
    const end = scanner.length(outer);
    let [from, to] = [-1, -1];
    if (scanner.at < end) {
      const tag = scanner.tag(end);
      if (tag === tagOf(1, bytes)) {
        to = scanner.length(end);
        from = scanner.at;
        scanner.at = to;
      } else this.#memberOfValue(tag, end, depth);
      if (scanner.at !== end) leavePlain();
    }
    this.text.set(from, to);
  }

  #memberOfValue(tag: number, end: number, depth: number): void {
    const scanner = this.#scanner;
    switch (tag) {
      case tagOf(2, varint):
      case tagOf(3, varint):
        return scanner.skipVarint(end);
      case tagOf(4, fixed64):
        return scanner.skip(8, end);
      case tagOf(5, bytes):
      case tagOf(6, bytes):
        return this.#list(tag === tagOf(6, bytes), scanner.length(end), depth + 1);
      case tagOf(7, bytes):
        return scanner.skipField(end);
      default:
        leavePlain();
    }
  }

  /** Of an `arrayValue` or a `kvlistValue`. */
  #list(isOfPairs: boolean, end: number, depth: number): void {
    const scanner = this.#scanner;
    while (scanner.at < end) {
      if (scanner.tag(end) !== tagOf(1, bytes)) leavePlain();
      if (isOfPairs) this.pair(end, depth);
      else this.value(end, depth);
    }
  }
}
