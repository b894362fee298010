import type { Clock } from '../clock.ts';

interface Pending {
  readonly at: number;
  readonly act: () => void;
}

/** A clock that stands still until the test moves it. */
export class ManualClock implements Clock {
  #wall: number;
  #monotonic = 0;
  readonly #pending = new Set<Pending>();

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#wall = start;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  after(ms: number, act: () => void): { cancel(): void } {
    const timer: Pending = { at: this.#monotonic + Math.max(0, ms), act };
    this.#pending.add(timer);
    return { cancel: () => this.#pending.delete(timer) };
  }

  /** How many timers wait: a test waits for one to appear before it moves on. */
  get timers(): number {
    return this.#pending.size;
  }

  /** Moves both clocks on and fires what falls due, in order; between two timers the microtasks run. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms;
    for (;;) {
      await settle();
      const next = [...this.#pending].sort((a, b) => a.at - b.at)[0];
      if (!next || next.at > end) break;
      this.#pending.delete(next);
      this.#move(Math.max(0, next.at - this.#monotonic));
      next.act();
    }
    this.#move(end - this.#monotonic);
    await settle();
  }

  /** The wall clock alone jumps: a sleep of the machine, or an operator's correction. */
  jump(ms: number): void {
    this.#wall += ms;
  }

  #move(ms: number): void {
    this.#monotonic += ms;
    this.#wall += ms;
  }
}

function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
