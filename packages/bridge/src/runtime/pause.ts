import type { Clock, Timer } from '@sallyport/core';

/** A timer stands still while the machine sleeps, so a long pause looks at the wall clock in between. */
const longestTimerMs = 60_000;

/** A wait that others can cut short. */
export class Pause {
  readonly #clock: Clock;
  #cut: (() => void) | undefined;
  #isOver = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves after `ms`, or as soon as `cut` or `end` is called. */
  for(ms: number): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    const until = this.#clock.now() + ms;
    return new Promise((resolve) => {
      let timer: Timer;
      const end = () => {
        timer.cancel();
        this.#cut = undefined;
        resolve();
      };
      const arm = (left: number) => {
        timer = this.#clock.after(
          Math.min(left, longestTimerMs),
          () => {
            // The lesser of the two: the wall clock may also have been set back.
            const rest = Math.min(left - longestTimerMs, until - this.#clock.now());
            if (rest > 0) arm(rest);
            else end();
          },
          { keepAlive: true },
        );
      };
      arm(ms);
      this.#cut = end;
    });
  }

  cut(): void {
    this.#cut?.();
  }

  /** There is no waiting any more, now and later. */
  end(): void {
    this.#isOver = true;
    this.cut();
  }
}
