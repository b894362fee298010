import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

const stderr = 2;
/** Of what waits because stderr takes nothing; what comes then is lost. */
const mostWaiting = 1024 * 1024;
/** A pipe that is full has no other way to say that there is room again. */
const fullPipeMs = 100;

/**
 * Lines on stderr, beside the event loop, because who reads them may be slow. What cannot be written, as to a full disk, waits
 * for the next line, and ends nothing. Not pino's own destination: that one's error ends the process, or keeps it from ending,
 * trying again for good.
 */
class StderrLines implements DestinationStream {
  #writing: Buffer = Buffer.alloc(0);
  #waiting = '';
  #isUnderWay = false;

  constructor() {
    process.on('exit', () => this.flushSync());
  }

  write(line: string): void {
    if (this.#waiting.length + line.length <= mostWaiting) this.#waiting += line;
    if (!this.#isUnderWay) this.#writeOn();
  }

  /** Pino asks for it at a fatal line, which may be the last one. */
  flushSync(): void {
    if (this.#isUnderWay) return this.#writeNow(this.#take());
    this.#writeNow(this.#writing);
    this.#writing = Buffer.alloc(0);
    this.#writeNow(this.#take());
  }

  #writeOn(): void {
    if (this.#writing.length === 0) this.#writing = this.#take();
    this.#isUnderWay = this.#writing.length > 0;
    if (this.#isUnderWay) write(stderr, this.#writing, this.#written);
  }

  readonly #written = (error: NodeJS.ErrnoException | null, bytes: number): void => {
    this.#isUnderWay = false;
    if (!error) {
      this.#writing = this.#writing.subarray(bytes);
      this.#writeOn();
    } else if (error.code === 'EAGAIN') {
      this.#isUnderWay = true;
      setTimeout(() => this.#writeOn(), fullPipeMs).unref();
    }
  };

  #take(): Buffer {
    const taken = Buffer.from(this.#waiting);
    this.#waiting = '';
    return taken;
  }

  #writeNow(bytes: Buffer): void {
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(stderr, bytes, at);
    } catch {
      // There is nobody to tell.
    }
  }
}

export const stderrLines: DestinationStream = new StderrLines();
