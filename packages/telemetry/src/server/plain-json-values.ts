import { maxDepth } from './any-value.ts';
import {
  closeBrace,
  closeBracket,
  digitSigns,
  type JsonScanner,
  jsonNames,
  minus,
  openBrace,
  openBracket,
  quote,
  signsOf,
} from './json-scanner.ts';
import { leavePlain, once, Span } from './plain-form.ts';

const maxIntDigits = 18;
/** A number of so many is one that a double holds. */
export const maxSafeDigits = 15;

const pairNames = jsonNames(['key', 'value']);
const valueNames = jsonNames([
  'stringValue',
  'boolValue',
  'intValue',
  'doubleValue',
  'bytesValue',
  'arrayValue',
  'kvlistValue',
]);
const listNames = jsonNames(['values']);

const base64Signs = signsOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_');

const equalsSign = 0x3d;

/** Goes through the attributes and values of a request in JSON. */
export class PlainJsonValues {
  /** Of the last attribute, and of its value if that is a text. */
  readonly key = new Span();
  readonly text = new Span();
  hasEscape = false;
  readonly #scanner: JsonScanner;

  constructor(scanner: JsonScanner) {
    this.#scanner = scanner;
  }

  /** A KeyValue; tells of it in `key`, `text` and `hasEscape`. */
  pair(depth: number): void {
    const scanner = this.#scanner;
    let [from, to, textFrom, textTo] = [-1, -1, -1, -1];
    let hasEscape = false;
    scanner.open(openBrace);
    let seen = 0;
    while (scanner.next(closeBrace)) {
      const member = scanner.name(pairNames);
      seen = once(seen, member);
      if (member === 0) {
        scanner.literalText();
        from = scanner.from;
        to = scanner.to;
      } else {
        this.value(depth);
        textFrom = this.text.from;
        textTo = this.text.to;
        hasEscape = this.hasEscape;
      }
    }
    if (seen !== 3 || from === to) leavePlain();
    this.key.set(from, to);
    this.text.set(textFrom, textTo);
    this.hasEscape = hasEscape;
  }

  /** An AnyValue of one member, or of none. */
  value(depth: number): void {
    if (depth > maxDepth) leavePlain();
    const scanner = this.#scanner;
    let [from, to] = [-1, -1];
    let hasEscape = false;
    scanner.open(openBrace);
    if (scanner.next(closeBrace)) {
      const member = scanner.name(valueNames);
      if (member === 0) {
        scanner.text();
        from = scanner.from;
        to = scanner.to;
        hasEscape = scanner.hasEscape;
      } else this.#memberOfValue(member, depth);
      if (scanner.next(closeBrace)) leavePlain();
    }
    this.text.set(from, to);
    this.hasEscape = hasEscape;
  }

  #memberOfValue(member: number, depth: number): void {
    const scanner = this.#scanner;
    switch (member) {
      case 1:
        return scanner.boolean();
      case 2:
        return this.#integer();
      case 3:
        return scanner.number();
      case 4:
        return this.#base64();
      default:
        return this.#list(member === 6, depth + 1);
    }
  }

  /** As text, or as a number of digits that a double holds. */
  #integer(): void {
    const scanner = this.#scanner;
    if (scanner.peek() !== quote) {
      scanner.integer(maxSafeDigits);
      return;
    }
    scanner.at += 1;
    if (scanner.bytes[scanner.at] !== minus && !isDigitAt(scanner)) leavePlain();
    scanner.integer(maxIntDigits);
    if (scanner.bytes[scanner.at] !== quote) leavePlain();
    scanner.at += 1;
  }

  #base64(): void {
    const scanner = this.#scanner;
    scanner.text();
    const { bytes, from } = scanner;
    let { to } = scanner;
    for (let most = 2; most > 0 && to > from && bytes[to - 1] === equalsSign; most--) to--;
    for (let at = from; at < to; at++) if (base64Signs[bytes[at] as number] !== 1) leavePlain();
  }

  /** Of an `arrayValue` or a `kvlistValue`. */
  #list(isOfPairs: boolean, depth: number): void {
    const scanner = this.#scanner;
    scanner.open(openBrace);
    for (let seen = 0; scanner.next(closeBrace);) {
      seen = once(seen, scanner.name(listNames));
      scanner.open(openBracket);
      while (scanner.next(closeBracket))
        if (isOfPairs) this.pair(depth);
        else this.value(depth);
    }
  }
}

function isDigitAt({ bytes, at }: JsonScanner): boolean {
  return digitSigns[bytes[at] ?? 0] === 1;
}
