import { isUtf8 } from 'node:buffer';
import {
  closeBrace,
  closeBracket,
  digitSigns,
  hexSigns,
  JsonScanner,
  jsonNames,
  openBrace,
  openBracket,
  quote,
  zero,
} from './json-scanner.ts';
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
import { maxSafeDigits, PlainJsonValues } from './plain-json-values.ts';

/** Nine digits: what a time has below its seconds. */
export const jsonTimeBase = 1_000_000_000n;
const lowDigits = 9;
/** Whatever digits they are, they are in the range of their type. */
const maxTimeDigits = 19;
const maxCountDigits = 9;

const requestNames = jsonNames(['resourceLogs']);
const resourceLogsNames = jsonNames(['resource', 'scopeLogs', 'schemaUrl']);
const scopeLogsNames = jsonNames(['scope', 'logRecords', 'schemaUrl']);
const originNames = jsonNames(['attributes', 'droppedAttributesCount', 'name', 'version']);
const recordNames = jsonNames([
  'timeUnixNano',
  'observedTimeUnixNano',
  'severityNumber',
  'severityText',
  'body',
  'attributes',
  'droppedAttributesCount',
  'flags',
  'traceId',
  'spanId',
  'eventName',
]);

/** Goes through an `ExportLogsServiceRequest` in JSON, and counts its records; leaves the plain form where it is another one. */
export function walkPlainJson(bytes: Uint8Array, counts: PlainCounts): void {
  if (!isUtf8(bytes)) leavePlain();
  const walk = new PlainJsonWalk(bytes, counts);
  walk.request();
}

class PlainJsonWalk {
  readonly #scanner: JsonScanner;
  readonly #values: PlainJsonValues;
  readonly #counts: PlainCounts;
  readonly #record = new PlainRecord();

  constructor(bytes: Uint8Array, counts: PlainCounts) {
    this.#scanner = new JsonScanner(bytes);
    this.#values = new PlainJsonValues(this.#scanner);
    this.#counts = counts;
  }

  request(): void {
    const scanner = this.#scanner;
    scanner.open(openBrace);
    for (let seen = 0; scanner.next(closeBrace);) {
      seen = once(seen, scanner.name(requestNames));
      scanner.open(openBracket);
      while (scanner.next(closeBracket)) this.#resourceLogs();
    }
    if (!scanner.isAtEnd() || scanner.opened > maxPlainValues) leavePlain();
  }

  #resourceLogs(): void {
    const scanner = this.#scanner;
    this.#counts.setService(undefined);
    scanner.open(openBrace);
    for (let seen = 0; scanner.next(closeBrace);) {
      const member = scanner.name(resourceLogsNames);
      // What the records are of has to be known when they come.
      if (member === 0 && (seen & 2) !== 0) leavePlain();
      seen = once(seen, member);
      if (member === 0) this.#origin(true);
      else if (member === 2) this.#schemaUrl();
      else {
        scanner.open(openBracket);
        while (scanner.next(closeBracket)) this.#scopeLogs();
      }
    }
  }

  #scopeLogs(): void {
    const scanner = this.#scanner;
    scanner.open(openBrace);
    for (let seen = 0; scanner.next(closeBrace);) {
      const member = scanner.name(scopeLogsNames);
      seen = once(seen, member);
      if (member === 0) this.#origin(false);
      else if (member === 2) this.#schemaUrl();
      else {
        scanner.open(openBracket);
        while (scanner.next(closeBracket)) this.#logRecord();
      }
    }
  }

  #schemaUrl(): void {
    const scanner = this.#scanner;
    scanner.text();
    if (scanner.to - scanner.from > maxPlainOriginBytes) leavePlain();
  }

  /** A resource or a scope: only the latter has a name and a version. */
  #origin(isResource: boolean): void {
    const scanner = this.#scanner;
    const { at } = scanner;
    let hasName = false;
    scanner.open(openBrace);
    for (let seen = 0; scanner.next(closeBrace);) {
      const member = scanner.name(originNames);
      seen = once(seen, member);
      if (member === 0) {
        scanner.open(openBracket);
        while (scanner.next(closeBracket)) {
          this.#values.pair(1);
          if (!isResource || hasName || !standsAt(scanner.bytes, this.#values.key, serviceNameKey)) continue;
          hasName = true;
          if (this.#values.hasEscape) leavePlain();
          this.#counts.setService(this.#values.text);
        }
      } else if (member === 1) scanner.unsigned(maxCountDigits);
      else if (isResource) leavePlain();
      else scanner.text();
    }
    if (scanner.at - at > maxPlainOriginBytes) leavePlain();
  }

  #logRecord(): void {
    const scanner = this.#scanner;
    const record = this.#record;
    const { at } = scanner;
    record.clear();
    scanner.open(openBrace);
    for (let seen = 0; scanner.next(closeBrace);) {
      const member = scanner.name(recordNames);
      seen = once(seen, member);
      this.#memberOfRecord(member, record);
    }
    if (scanner.at - at > maxPlainRecordBytes) leavePlain();
    this.#counts.addRecord(record);
  }

  #memberOfRecord(member: number, record: PlainRecord): void {
    const scanner = this.#scanner;
    switch (member) {
      case 0:
        return this.#time(record.time);
      case 1:
        return this.#time(record.observed);
      case 2:
        record.severity = scanner.unsigned(2);
        if (record.severity > 24) leavePlain();
        return;
      case 3:
        return scanner.text();
      case 4:
        return this.#values.value(1);
      case 5:
        return this.#attributesOf(record);
      case 6:
      case 7:
        scanner.unsigned(maxCountDigits);
        return;
      case 8:
        return this.#id(32);
      case 9:
        return this.#id(16);
      default:
        scanner.literalText();
        record.eventName.set(scanner.from, scanner.to);
    }
  }

  #attributesOf(record: PlainRecord): void {
    const scanner = this.#scanner;
    scanner.open(openBracket);
    while (scanner.next(closeBracket)) {
      this.#values.pair(1);
      if (++record.attributes > maxAttributes) leavePlain();
      if (record.hasEventAttribute || !standsAt(scanner.bytes, this.#values.key, eventNameKey)) continue;
      if (this.#values.hasEscape) leavePlain();
      record.hasEventAttribute = true;
      record.eventAttribute.set(this.#values.text.from, this.#values.text.to);
    }
  }

  /** As text, or as a number of digits that a double holds. */
  #time(time: SplitTime): void {
    const scanner = this.#scanner;
    if (scanner.peek() === quote) {
      const length = scanner.textOf(digitSigns);
      const isCanonical = length === 1 || scanner.bytes[scanner.from] !== zero;
      if (length === 0 || length > maxTimeDigits || !isCanonical) leavePlain();
    } else scanner.unsigned(maxSafeDigits);
    const middle = Math.max(scanner.from, scanner.to - lowDigits);
    time.high = this.#digits(scanner.from, middle);
    time.low = this.#digits(middle, scanner.to);
  }

  #digits(from: number, to: number): number {
    const { bytes } = this.#scanner;
    let value = 0;
    for (let at = from; at < to; at++) value = value * 10 + (bytes[at] as number) - zero;
    return value;
  }

  #id(digits: number): void {
    const length = this.#scanner.textOf(hexSigns);
    if (length !== 0 && length !== digits) leavePlain();
  }
}
