import type { Clock, Timer } from '@sallyport/core';
import type { EndListener } from '../http/ending.ts';

/** One that no reader takes for an event (HTML 9.2.6). */
export const comment = ':\n\n';

const blankLine = /\n\r?\n$/;

/** Says when an event stream needs a comment, so that no balancer on its way takes it for dead. */
export class KeepAlive implements EndListener {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #speak: () => void;
  #heardAt: number;
  /** The end of what has passed. A stream begins as if a blank line were before it. */
  #tail = '\n\n';
  #timer: Timer;

  /** `speak` is called after `ms` of silence between two events: a comment within one would break it apart. */
  constructor(clock: Clock, ms: number, speak: () => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#speak = speak;
    this.#heardAt = clock.monotonic();
    this.#timer = this.#wait(ms);
  }

  heard(chunk: Buffer): void {
    this.#heardAt = this.#clock.monotonic();
    this.#tail = (this.#tail + chunk.toString('latin1', Math.max(0, chunk.length - 3))).slice(-3);
  }

  ended(): void {
    this.#timer.cancel();
  }

  #wait(ms: number): Timer {
    return this.#clock.after(ms, () => {
      const now = this.#clock.monotonic();
      const isSilent = now - this.#heardAt >= this.#ms;
      if (isSilent) this.#heardAt = now;
      this.#timer = this.#wait(this.#heardAt + this.#ms - now);
      if (isSilent && blankLine.test(this.#tail)) this.#speak();
    });
  }
}
