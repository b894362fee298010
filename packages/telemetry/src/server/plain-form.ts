import { BlockTally } from './block-tally.ts';
import { serviceNameFrom } from './logs-request.ts';

// Nearly every request is as ordinary exporters write it: fields that are known, each once, in their usual form. Of such a one
// nothing has to be decoded: that no rule is broken, and what its summary counts, is seen in its bytes. Whatever is not
// plain, though it may be valid, or is more than a little, is left to the decoder, which judges it and says what is wrong.

/**
 * So long a record is within the rules, whatever is in it: in no encoding does a field, or a sign, become twelve times as long as the
 * JSON that the rule of 256 KiB is about. (The longest are a control character of protobuf, six, in `event.name`, which counts twice.)
 */
export const maxPlainRecordBytes = 16 * 1024;
/** Of a resource or a scope, and as much again of its `schemaUrl`: fields of protobuf become up to eight times as long, and the rule is 64 KiB. */
export const maxPlainOriginBytes = 4 * 1024;

/** Objects of JSON, or messages, in a request: what is kept as it came is decoded at once by each who reads it. */
export const maxPlainValues = 128 * 1024;

class NotPlain extends Error {
  override readonly name = 'NotPlain';
}

/** One for all: nobody sees where it came from, and it is thrown for any request of another form. */
const isNotPlain = new NotPlain('The request has another form than the plain one.');

/** Leaves the request to the decoder. */
export function leavePlain(): never {
  throw isNotPlain;
}

/** Notes that a member was there: of two, it would depend on the reader which one counts, or whether they are one. */
export function once(seen: number, member: number): number {
  const bit = 1 << member;
  if ((seen & bit) !== 0) leavePlain();
  return seen | bit;
}

/** What `walk` gives; `undefined` where it left the plain form. */
export function ifPlain<T>(walk: () => T): T | undefined {
  try {
    return walk();
  } catch (error) {
    if (error instanceof NotPlain) return undefined;
    throw error;
  }
}

/** Where a text is, `from` its first byte `to` behind its last; both -1 where there is none. */
export class Span {
  from = -1;
  to = -1;

  set(from: number, to: number): void {
    this.from = from;
    this.to = to;
  }

  clear(): void {
    this.set(-1, -1);
  }
}

/** A time in two numbers, since a double holds 53 bits: `high` times the base of its encoding, and `low`. */
export class SplitTime {
  high = 0;
  low = 0;

  clear(): void {
    this.high = 0;
    this.low = 0;
  }
}

/** The record that a walk is in. */
export class PlainRecord {
  readonly time = new SplitTime();
  readonly observed = new SplitTime();
  readonly eventName = new Span();
  severity = 0;
  attributes = 0;
  /** Of several attributes `event.name` the first counts, even where it is no text. */
  hasEventAttribute = false;
  readonly eventAttribute = new Span();

  clear(): void {
    this.time.clear();
    this.observed.clear();
    this.eventName.clear();
    this.severity = 0;
    this.attributes = 0;
    this.hasEventAttribute = false;
    this.eventAttribute.clear();
  }
}

/** What is counted in a request while its bytes are gone through. */
export class PlainCounts {
  records = 0;
  readonly #buffer: Buffer;
  readonly #base: bigint;
  readonly #receivedAt: number;
  readonly #tally = new BlockTally();
  #serviceName = '';
  #severities: number[] | undefined;
  readonly #lastName = new Span();
  #isTimed = false;
  readonly #first = new SplitTime();
  readonly #last = new SplitTime();

  /** `base`: of the split times. `receivedAt`, in epoch milliseconds, is the time of a record that has none. */
  constructor(bytes: Uint8Array, base: bigint, receivedAt: number) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#base = base;
    this.#receivedAt = receivedAt;
  }

  /** Of the records that follow; without one, they are of no service that is known. */
  setService(name: Span | undefined): void {
    this.#serviceName = serviceNameFrom(name && name.from >= 0 ? this.#text(name) : '');
    this.#severities = undefined;
  }

  addRecord(record: PlainRecord): void {
    this.records += 1;
    const severities = (this.#severities ??= this.#tally.countsOf(this.#serviceName));
    severities[record.severity] = (severities[record.severity] ?? 0) + 1;
    const { time, observed, eventName, eventAttribute } = record;
    if (time.high !== 0 || time.low !== 0) this.#addTime(time);
    else if (observed.high !== 0 || observed.low !== 0) this.#addTime(observed);
    else this.#tally.addTime(`${Math.trunc(this.#receivedAt)}000000`);
    if (eventName.to > eventName.from) this.#addName(eventName);
    else if (eventAttribute.from >= 0) this.#addName(eventAttribute);
  }

  summaryOf(content: Uint8Array): string {
    if (this.#isTimed)
      for (const { high, low } of [this.#first, this.#last])
        this.#tally.addTime(String(BigInt(high) * this.#base + BigInt(low)));
    return this.#tally.write(content);
  }

  #addTime({ high, low }: SplitTime): void {
    if (!this.#isTimed || isBefore(high, low, this.#first)) {
      this.#first.high = high;
      this.#first.low = low;
    }
    if (!this.#isTimed || !isBefore(high, low, this.#last)) {
      this.#last.high = high;
      this.#last.low = low;
    }
    this.#isTimed = true;
  }

  /** Neighbours are mostly alike, and making a text is dear. */
  #addName(name: Span): void {
    const last = this.#lastName;
    if (last.from >= 0 && isSame(this.#buffer, name, last)) return;
    last.set(name.from, name.to);
    this.#tally.addEventName(this.#text(name));
  }

  #text({ from, to }: Span): string {
    return this.#buffer.toString('utf8', from, to);
  }
}

function isBefore(high: number, low: number, other: SplitTime): boolean {
  return high < other.high || (high === other.high && low < other.low);
}

function isSame(buffer: Uint8Array, one: Span, other: Span): boolean {
  const length = one.to - one.from;
  if (length !== other.to - other.from) return false;
  for (let at = 0; at < length; at++) if (buffer[one.from + at] !== buffer[other.from + at]) return false;
  return true;
}

/** Whether these bytes stand there; `text` is ASCII. */
export function standsAt(bytes: Uint8Array, span: Span, text: Uint8Array): boolean {
  if (span.to - span.from !== text.length) return false;
  for (let at = 0; at < text.length; at++) if (bytes[span.from + at] !== text[at]) return false;
  return true;
}

export const eventNameKey = Buffer.from('event.name');
export const serviceNameKey = Buffer.from('service.name');
