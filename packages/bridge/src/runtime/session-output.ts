import type { Execution } from './executor.ts';

/** The reasons for which a process is held up, or let go on. */
interface Reasons {
  /** The outbox has as much as it may hold. */
  readonly isFull: boolean;
  /** Whether the session is still ours is in doubt. */
  readonly isInDoubt: boolean;
  /** Nobody takes output any more: what is left of it must not hold up the process's end. */
  readonly isOver: boolean;
}

/** Holds a process up while nothing more of it may go out. */
export class SessionOutput {
  #reasons: Reasons = { isFull: false, isInDoubt: false, isOver: false };
  #execution: Execution | undefined;

  /** From now on it is about this one. */
  of(execution: Execution): void {
    this.#execution = execution;
    this.set({});
  }

  set(change: Partial<Reasons>): void {
    this.#reasons = { ...this.#reasons, ...change };
    const { isFull, isInDoubt, isOver } = this.#reasons;
    if (!isOver && (isFull || isInDoubt)) this.#execution?.pause();
    else this.#execution?.resume();
  }
}
