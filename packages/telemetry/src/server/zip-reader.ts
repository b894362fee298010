import { read } from 'node:fs';
import { RandomAccessReader } from 'yauzl';

const windowBytes = 64 * 1024;

/**
 * A ZIP file for yauzl, which reads wherever the file tells it to, up to 2^64: `fs.read` throws at such a place, and yauzl asks
 * it where nobody catches that. Here a place beyond the end is an error like others.
 */
export class ZipReader extends RandomAccessReader {
  readonly #fd: number;
  readonly #size: number;
  /** What was read last, and where it begins: headers are small, many, and mostly one behind the other. */
  #window = Buffer.alloc(0);
  #windowAt = 0;

  /** Whoever opened the file closes it. */
  constructor(fd: number, size: number) {
    super();
    this.#fd = fd;
    this.#size = size;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    if (position + length > this.#size) return callback(new Error('The file ends before.'));
    const give = () => {
      const from = position - this.#windowAt;
      const isThere = from >= 0 && from + length <= this.#window.length;
      if (isThere) this.#window.copy(buffer, offset, from, from + length);
      return isThere;
    };
    if (give()) return queueMicrotask(() => callback(null));
    const window = Buffer.alloc(Math.max(length, Math.min(windowBytes, this.#size - position)));
    read(this.#fd, window, 0, window.length, position, (error, bytesRead) => {
      this.#window = window.subarray(0, bytesRead);
      this.#windowAt = position;
      callback(error ?? (give() ? null : new Error('The file was cut off.')));
    });
  }
}
