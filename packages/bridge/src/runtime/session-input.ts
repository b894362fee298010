import type { SessionEvent } from '@sallyport/core/contract';
import type { Execution } from './executor.ts';

export interface SessionInputOptions {
  readonly isInteractive: boolean;
  /** Told when the process has read what was held up, and takes events again. */
  readonly onRoom: () => void;
}

/** What people send goes into the process, no faster than it reads. */
export class SessionInput {
  readonly #options: SessionInputOptions;
  #isCaughtUp = false;
  /** The process has more input than it reads. */
  #isSated = false;

  constructor(options: SessionInputOptions) {
    this.#options = options;
  }

  /** All that the session had before is through: a process that is not spoken to gets no more. */
  caughtUp(execution: Execution | undefined): void {
    this.#isCaughtUp = true;
    if (this.#options.isInteractive) return;
    execution?.endInput();
    this.#isSated = false; // there is no more input to wait with
  }

  /** Gives whether it was taken; there is no execution if it could not be started. */
  take(event: SessionEvent, execution: Execution | undefined): boolean {
    if (this.#isSated) return false;
    const sated = execution?.deliver(event);
    if (sated) {
      this.#isSated = true;
      const resume = () => {
        this.#isSated = false;
        this.#options.onRoom();
      };
      // An embedder's that rejects is that one's failure, and has `ended` to say so.
      void sated.then(resume, resume);
    }
    // One from the past was for a process of the past.
    const isInterrupt = event.type === 'control.interrupt' && this.#isCaughtUp;
    if (isInterrupt && !this.#options.isInteractive) execution?.signal('SIGINT');
    return true;
  }
}
