/** A text that is written again and again, as its bytes. */
export type Piece = Uint8Array;

export function pieceOf(text: string): Piece {
  return new TextEncoder().encode(text);
}

/** Whether JSON has a text as it is, one byte each. */
export function isPlainText(text: string): boolean {
  return !needsCare.test(text);
}

const needsCare = /[^ !#-[\]-~]/;
/** Shorter texts are copied by hand before a native call has begun. */
const shortChars = 12;

/**
 * JSON in the making, in UTF-8: strings that are put together are walked through part by part when they are sent, which
 * costs as much as making them.
 */
export class ByteWriter {
  #bytes = Buffer.allocUnsafeSlow(64 * 1024);
  /** How much is written. Less: what is behind is forgotten. */
  length = 0;

  /** Bytes that it has room for. */
  get capacity(): number {
    return this.#bytes.length;
  }

  piece(piece: Piece): void {
    const { length } = piece;
    this.#reserve(length);
    this.#bytes.set(piece, this.length);
    this.length += length;
  }

  /** A text of ASCII characters. */
  ascii(text: string): void {
    const { length } = text;
    this.#reserve(length);
    if (length < shortChars) {
      const bytes = this.#bytes;
      for (let index = 0, at = this.length; index < length; index += 1, at += 1)
        bytes[at] = text.charCodeAt(index);
    } else this.#bytes.write(text, this.length, 'latin1');
    this.length += length;
  }

  /** Any text. */
  text(text: string): void {
    this.#reserve(text.length * 3);
    this.length += this.#bytes.write(text, this.length, 'utf8');
  }

  /** A string of JSON, its quotes included. */
  quoted(text: string): void {
    if (isPlainText(text)) this.plain(text);
    else this.text(JSON.stringify(text));
  }

  /** The same of a plain text. */
  plain(text: string): void {
    this.byte(quote);
    this.ascii(text);
    this.byte(quote);
  }

  /** A whole number from 0 up to 2**31, in at least so many decimal digits. */
  digits(value: number, least = 1): void {
    this.#reserve(10);
    let count = least;
    while (count < 10 && value >= (powers[count] as number)) count += 1;
    const bytes = this.#bytes;
    const start = this.length;
    let rest = value | 0;
    for (let at = start + count - 1; at >= start; at -= 1) {
      const next = (rest / 10) | 0;
      bytes[at] = zero + rest - next * 10;
      rest = next;
    }
    this.length = start + count;
  }

  byte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.length] = byte;
    this.length += 1;
  }

  /** What is written, until something else is. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  /** A copy of what was written from `start` on. */
  copy(start: number): Uint8Array {
    return new Uint8Array(this.#bytes.subarray(start, this.length));
  }

  toString(start = 0): string {
    return this.#bytes.toString('utf8', start, this.length);
  }

  #reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.length);
    this.#bytes = larger;
  }
}

const quote = 0x22;
const zero = 0x30;
const powers = Array.from({ length: 10 }, (_, exponent) => 10 ** exponent);
