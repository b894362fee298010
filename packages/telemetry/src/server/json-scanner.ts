import { leavePlain } from './plain-form.ts';

/** Names of an object's members; each has the number that its place in the list is. */
export type JsonNames = readonly (readonly JsonName[])[];

interface JsonName {
  readonly id: number;
  /** With its quotes. */
  readonly bytes: Uint8Array;
}

/** By their first letter. */
export function jsonNames(names: readonly string[]): JsonNames {
  const byLetter: JsonName[][] = Array.from({ length: 256 }, () => []);
  names.forEach((name, id) => {
    byLetter[name.charCodeAt(0)]?.push({ id, bytes: Buffer.from(`"${name}"`) });
  });
  return byLetter;
}

export const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
export const minus = 0x2d;
export const zero = 0x30;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;

/** 1: ends a run of signs that a text has as they are. */
const endsRun = new Uint8Array(256).map((_, code) =>
  Number(code < 0x20 || code === quote || code === backslash),
);
/** 1: one sign that may be behind a backslash. */
const isShortEscape = signsOf('"\\/bfnrt');
export const digitSigns = signsOf('0123456789');
export const hexSigns = signsOf('0123456789abcdefABCDEF');
const isSpace = signsOf(' \t\n\r');

/** 1 for each of these. */
export function signsOf(signs: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const sign of Buffer.from(signs)) table[sign] = 1;
  return table;
}

/** Goes through the bytes of a JSON text (RFC 8259) that is UTF-8, without making anything of them; each method leaves it for what is not plain. */
export class JsonScanner {
  readonly bytes: Uint8Array;
  at = 0;
  /** Of the last text, within its quotes, or of an integer, without its sign. */
  from = 0;
  to = 0;
  /** Whether the last text has escapes, so that its bytes are not what it says. */
  hasEscape = false;
  /** Objects and arrays that were gone into. */
  opened = 0;
  readonly #end: number;
  #isFirst = false;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#end = bytes.length;
  }

  /** The next sign that is no space; 0 at the end. */
  peek(): number {
    const code = this.bytes[this.at] ?? 0;
    return code > 0x20 ? code : this.#peekBehindSpace();
  }

  #peekBehindSpace(): number {
    while (this.at < this.#end && isSpace[this.bytes[this.at] as number] === 1) this.at += 1;
    return this.bytes[this.at] ?? 0;
  }

  /** Whether nothing but space is left. */
  isAtEnd(): boolean {
    this.peek();
    return this.at >= this.#end;
  }

  #take(code: number): void {
    if (this.peek() !== code) leavePlain();
    this.at += 1;
  }

  /** Goes into an object or an array. */
  open(bracket: number): void {
    this.#take(bracket);
    this.opened += 1;
    this.#isFirst = true;
  }

  /** Goes to the next member or item of the one that was opened last and has not ended; `false` when it ends, with this bracket. */
  next(bracket: number): boolean {
    if (this.peek() === bracket) {
      this.at += 1;
      this.#isFirst = false;
      return false;
    }
    if (this.#isFirst) this.#isFirst = false;
    else this.#take(comma);
    return true;
  }

  /** Takes one of the names, and what stands between it and its value; gives its number. */
  name(names: JsonNames): number {
    if (this.peek() !== quote) leavePlain();
    const { bytes, at } = this;
    const candidates = names[bytes[at + 1] ?? 0] ?? [];
    for (let index = 0; index < candidates.length; index++) {
      const { id, bytes: name } = candidates[index] as JsonName;
      let length = 2;
      while (length < name.length && bytes[at + length] === name[length]) length++;
      if (length < name.length) continue;
      this.at = at + length;
      this.#take(colon);
      return id;
    }
    return leavePlain();
  }

  /** A text, whatever it says. */
  text(): void {
    this.#take(quote);
    const { bytes } = this;
    const end = this.#end;
    let at = this.at;
    this.from = at;
    this.hasEscape = false;
    for (;;) {
      while (at < end && endsRun[bytes[at] as number] === 0) at++;
      const code = at < end ? bytes[at] : 0;
      if (code === quote) break;
      if (code !== backslash) leavePlain();
      this.hasEscape = true;
      at = this.#behindEscape(at + 1);
    }
    this.to = at;
    this.at = at + 1;
  }

  #behindEscape(at: number): number {
    const { bytes } = this;
    const code = bytes[at] ?? 0;
    if (isShortEscape[code] === 1) return at + 1;
    if (code !== 0x75) leavePlain();
    for (let digit = 1; digit <= 4; digit++) if (hexSigns[bytes[at + digit] ?? 0] !== 1) leavePlain();
    return at + 5;
  }

  /** A text whose bytes are what it says. */
  literalText(): void {
    this.text();
    if (this.hasEscape) leavePlain();
  }

  /** A text of these signs alone; gives its length. */
  textOf(signs: Uint8Array): number {
    this.text();
    for (let at = this.from; at < this.to; at++) if (signs[this.bytes[at] as number] !== 1) leavePlain();
    return this.to - this.from;
  }

  /** `true` or `false`. */
  boolean(): void {
    const word = this.peek() === 0x74 ? trueWord : falseWord;
    for (let index = 0; index < word.length; index++)
      if (this.bytes[this.at + index] !== word[index]) leavePlain();
    this.at += word.length;
  }

  /** An unsigned integer as canonical digits, at most so many (15: a double holds them), as a number; sets `from` and `to`. */
  unsigned(most: number): number {
    if (this.peek() === minus) leavePlain();
    return this.integer(most);
  }

  /** An integer, likewise; gives its value without the sign. */
  integer(most: number): number {
    if (this.peek() === minus) this.at += 1;
    const { bytes } = this;
    let at = this.at;
    this.from = at;
    let value = 0;
    for (;;) {
      const digit = (bytes[at] ?? 0) - zero;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      at++;
    }
    const length = at - this.from;
    if (length === 0 || length > most || (length > 1 && bytes[this.from] === zero)) leavePlain();
    this.to = at;
    this.at = at;
    return value;
  }

  /** A number that is surely finite: of up to 21 digits before its point, and of an exponent of up to two. */
  number(): void {
    this.integer(21);
    const { bytes } = this;
    if (bytes[this.at] === 0x2e) this.#takeDigits(this.at + 1, 25);
    if (((bytes[this.at] ?? 0) | 0x20) !== 0x65) return;
    const sign = bytes[this.at + 1];
    this.#takeDigits(this.at + (sign === 0x2b || sign === minus ? 2 : 1), 2);
  }

  #takeDigits(from: number, most: number): void {
    let at = from;
    while (at - from <= most && isDigit(this.bytes[at] ?? 0)) at++;
    if (at === from || at - from > most) leavePlain();
    this.at = at;
  }
}

function isDigit(code: number): boolean {
  return code >= zero && code <= 0x39;
}

const trueWord = Buffer.from('true');
const falseWord = Buffer.from('false');
