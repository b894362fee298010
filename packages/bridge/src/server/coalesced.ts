import type { WakeListener } from '@sallyport/core';

/**
 * What acts when it is woken, never two at a time: woken while it acts, it acts once more afterwards. A base class, so that it
 * costs each stream and each held poll two fields.
 */
export abstract class Coalesced implements WakeListener {
  #isAsked = false;
  #running: Promise<void> | undefined;

  protected abstract act(): Promise<void>;

  wake(): void {
    void this.run();
  }

  /** Resolves when nothing is asked any more, so at least one whole act came after the call. */
  run(): Promise<void> {
    this.#isAsked = true;
    return (this.#running ??= this.#loop());
  }

  async #loop(): Promise<void> {
    try {
      while (this.#isAsked) {
        this.#isAsked = false;
        await this.act();
      }
    } finally {
      // Here and not in a `then`: a call between the last look and that would be lost.
      this.#running = undefined;
    }
  }
}
