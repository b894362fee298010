import { fullJitter, type Clock, type Random } from '@sallyport/core';

const healthyAfterMs = 60_000;
const maxRetryAfterMs = 5 * 60_000;

/** How long one link waits between its attempts. There is no last attempt. */
export class Backoff {
  readonly #clock: Clock;
  readonly #random: Random;
  #attempt = 0;
  #wellSince: number | undefined;

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  succeeded(): void {
    this.#wellSince ??= this.#clock.monotonic();
  }

  /** The pause after a failure. What the service asked for wins, up to 5 minutes and spread by a fifth. */
  next(retryAfterMs?: number): number {
    const wasHealthy = this.#end();
    // A service that says when has its reasons, and does not make us slower than that.
    if (retryAfterMs !== undefined)
      return Math.min(retryAfterMs, maxRetryAfterMs) * (1 + 0.2 * this.#random.fraction());
    if (wasHealthy) return this.#random.fraction() * 5_000; // all clients lost the link at the same moment
    return fullJitter(this.#random, this.#attempt++);
  }

  /**
   * The pause after a service that drains: as long as it asked for, up to 5 minutes. One that drains again and again is no
   * better than one that fails.
   */
  afterDraining(drainMs: number): number {
    this.#end();
    const attempt = this.#attempt++;
    const more = attempt === 0 ? 0 : fullJitter(this.#random, attempt - 1);
    return Math.min(drainMs, maxRetryAfterMs) + more;
  }

  /** Only a link that held for a while starts over: one that is accepted and dropped at once must slow down. */
  #end(): boolean {
    const wasHealthy =
      this.#wellSince !== undefined && this.#clock.monotonic() - this.#wellSince >= healthyAfterMs;
    this.#wellSince = undefined;
    if (wasHealthy) this.#attempt = 0;
    return wasHealthy;
  }

  reset(): void {
    this.#attempt = 0;
    this.#wellSince = undefined;
  }
}
