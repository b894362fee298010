import type { SessionEvent } from '@sallyport/core/contract';
import type { Execution, Exit, StopSignal } from './executor.ts';

/**
 * An execution whose place is made first: what it is told meanwhile reaches it when it begins, and any signal ends the
 * making, as it would end the process.
 */
export class LateExecution implements Execution {
  readonly ended: Promise<Exit>;
  readonly #making = new AbortController();
  readonly #begun = Promise.withResolvers<unknown>();
  #execution: Execution | undefined;
  #signal: StopSignal | undefined;
  /** One event is taken before the process is there; then it has enough. */
  #held: SessionEvent | undefined;
  #inputHasEnded = false;
  #isPaused = false;

  /** `fail` gives the exit of what could not begin. */
  constructor(begin: (signal: AbortSignal) => Promise<Execution>, fail: (error: unknown) => Exit) {
    this.ended = this.#run(begin, fail);
  }

  get pid(): number | undefined {
    return this.#execution?.pid;
  }

  deliver(event: SessionEvent): Promise<unknown> | undefined {
    if (this.#execution) return this.#execution.deliver(event);
    if (this.#inputHasEnded) return undefined;
    this.#held = event;
    return this.#begun.promise;
  }

  endInput(): void {
    this.#inputHasEnded = true;
    this.#execution?.endInput();
  }

  pause(): void {
    this.#isPaused = true;
    this.#execution?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#execution?.resume();
  }

  signal(signal: StopSignal): void {
    if (this.#execution) return this.#execution.signal(signal);
    this.#signal = signal;
    this.#making.abort();
  }

  async #run(
    begin: (signal: AbortSignal) => Promise<Execution>,
    fail: (error: unknown) => Exit,
  ): Promise<Exit> {
    try {
      this.#execution = await begin(this.#making.signal);
    } catch (error) {
      return this.#signal === undefined ? fail(error) : { exitCode: null, signal: this.#signal };
    } finally {
      this.#begin();
    }
    return this.#execution.ended;
  }

  #begin(): void {
    const execution = this.#execution;
    if (execution) {
      if (this.#isPaused) execution.pause();
      const sated = this.#held && execution.deliver(this.#held);
      if (this.#inputHasEnded) execution.endInput();
      this.#held = undefined;
      if (sated) return this.#begun.resolve(sated.catch(() => undefined));
    }
    this.#begun.resolve(undefined);
  }
}
