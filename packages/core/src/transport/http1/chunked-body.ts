import { fieldsOf, MalformedAnswer } from './fields.ts';

const cr = 0x0d;
const lf = 0x0a;
/** What chunk extensions and trailers may take. */
const maxExtensionBytes = 4096;
const maxTrailerBytes = 16 * 1024;
/** 2^52 bytes: more is no number here. */
const maxSizeDigits = 13;

type Stage = 'size' | 'extension' | 'size end' | 'data' | 'data end' | 'line end' | 'trailers' | 'whole';

/** A body in chunks (RFC 9112 7.1), in whatever pieces it comes. */
export class ChunkedBody {
  #stage: Stage = 'size';
  #left = 0;
  #digits = 0;
  #extensionBytes = 0;
  #tail = '';
  /** Flat, name and value by turns. */
  trailers: readonly string[] = [];

  get isWhole(): boolean {
    return this.#stage === 'whole';
  }

  /** Takes what is its own of `bytes`, from `at`, and gives where that ends. Throws `MalformedAnswer`. */
  read(bytes: Buffer, at: number, data: Buffer[]): number {
    let i = at;
    while (i < bytes.length && this.#stage !== 'whole') {
      if (this.#stage === 'data') {
        const end = Math.min(bytes.length, i + this.#left);
        this.#left -= end - i;
        if (this.#left === 0) this.#stage = 'data end';
        data.push(bytes.subarray(i, end));
        i = end;
      } else if (this.#stage === 'trailers') i = this.#trailers(bytes, i);
      else this.#line(bytes[i++] ?? 0);
    }
    return i;
  }

  /** One byte of what stands between the data. */
  #line(byte: number): void {
    switch (this.#stage) {
      case 'size':
        return this.#size(byte);
      case 'extension':
        if (byte === cr) this.#stage = 'size end';
        else if (
          (byte < 0x20 && byte !== 0x09) ||
          byte === 0x7f ||
          ++this.#extensionBytes > maxExtensionBytes
        )
          throw broken();
        return;
      case 'size end':
        if (byte !== lf) throw broken();
        this.#digits = 0;
        this.#stage = this.#left > 0 ? 'data' : 'trailers';
        return;
      case 'data end':
        if (byte !== cr) throw broken();
        this.#stage = 'line end';
        return;
      default:
        if (byte !== lf) throw broken();
        this.#stage = 'size';
    }
  }

  #size(byte: number): void {
    const digit = hexOf(byte);
    if (digit >= 0) {
      if (++this.#digits > maxSizeDigits) throw broken();
      this.#left = this.#left * 16 + digit;
      return;
    }
    if (this.#digits === 0) throw broken();
    if (byte === cr) this.#stage = 'size end';
    else if (byte === 0x3b) this.#stage = 'extension';
    else throw broken();
  }

  #trailers(bytes: Buffer, at: number): number {
    const before = this.#tail.length;
    const room = maxTrailerBytes - before;
    const text = this.#tail + bytes.toString('latin1', at, Math.min(bytes.length, at + room));
    const isEmpty = text.startsWith('\r\n');
    const end = isEmpty ? 0 : text.indexOf('\r\n\r\n', Math.max(0, before - 3));
    if (end < 0) {
      if (text.length >= maxTrailerBytes) throw new MalformedAnswer('has too long trailers');
      this.#tail = text;
      return bytes.length;
    }
    if (!isEmpty) this.trailers = fieldsOf(text.slice(0, end), 0);
    this.#stage = 'whole';
    return at + end + (isEmpty ? 2 : 4) - before;
  }
}

function hexOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function broken(): MalformedAnswer {
  return new MalformedAnswer('has a chunk that is none');
}
