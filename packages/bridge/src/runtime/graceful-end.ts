import type { Clock, Timer } from '@sallyport/core';
import type { Execution } from './executor.ts';

/** Asks an execution to end, insists at half of the deadline, and kills it at the deadline. */
export class GracefulEnd {
  readonly #clock: Clock;
  readonly #timers: Timer[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(execution: Execution, deadlineMs: number): void {
    execution.signal('SIGINT');
    const later = (ms: number, act: () => void) =>
      this.#timers.push(this.#clock.after(ms, act, { keepAlive: true }));
    later(deadlineMs / 2, () => execution.signal('SIGTERM'));
    later(deadlineMs, () => execution.signal('SIGKILL'));
  }

  /** It has ended. */
  cancel(): void {
    for (const timer of this.#timers) timer.cancel();
  }
}
