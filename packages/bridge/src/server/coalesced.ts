/**
 * Runs `act`, never two at a time: asked while it runs, it runs once more afterwards. A class, and not a function with its
 * state around it: each stream and each held poll has one.
 */
export class Coalesced {
  readonly #act: () => Promise<void>;
  #isAsked = false;
  #running: Promise<void> | undefined;

  constructor(act: () => Promise<void>) {
    this.#act = act;
  }

  /** Resolves when nothing is asked any more, so at least one whole run came after the call. */
  run(): Promise<void> {
    this.#isAsked = true;
    return (this.#running ??= this.#loop());
  }

  async #loop(): Promise<void> {
    try {
      while (this.#isAsked) {
        this.#isAsked = false;
        await this.#act();
      }
    } finally {
      // Here and not in a `then`: a call between the last look and that would be lost.
      this.#running = undefined;
    }
  }
}
