const newline = 0x0a;

/** The beginning of a text, up to so many bytes and to the end of a line. */
export class Patch {
  readonly #mostBytes: number;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #isTruncated = false;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** Whether it goes on. */
  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  get bytes(): Buffer {
    const bytes = Buffer.concat(this.#chunks, this.#size);
    return this.#isTruncated ? bytes.subarray(0, bytes.lastIndexOf(newline) + 1) : bytes;
  }

  /** Gives whether there is room for more. */
  add(chunk: Buffer): boolean {
    if (this.#isTruncated) return false;
    this.#isTruncated = this.#size + chunk.length > this.#mostBytes;
    const part = chunk.subarray(0, this.#mostBytes - this.#size);
    this.#chunks.push(part);
    this.#size += part.length;
    return !this.#isTruncated;
  }
}
