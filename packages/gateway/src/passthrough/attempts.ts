import type { Outbound } from './outbound.ts';
import { Upload } from './upload.ts';

const maxRetries = 2;

/** How often one request goes to its upstream: once more where nothing was done by it, or may be done twice. */
export class Attempts {
  readonly #outbound: Outbound;
  #retries = 0;
  #renewed = false;
  /** The upstream may have heard of it. */
  #isUnderWay = false;

  constructor(outbound: Outbound) {
    this.#outbound = outbound;
  }

  get hasRetried(): boolean {
    return this.#retries > 0;
  }

  begin(): void {
    this.#isUnderWay = false;
  }

  underWay(): void {
    this.#isUnderWay = true;
  }

  /** After a failure. */
  mayRetry(): boolean {
    const { body, isSafe, upstream } = this.#outbound;
    if (body instanceof Upload || this.#retries >= maxRetries) return false;
    if (this.#isUnderWay && !(isSafe && body === null)) return false;
    // What a breaker that is not closed lets go is one try, and tells it all.
    if (upstream.breaker.state !== 'closed') return false;
    return this.#retries > 0 || upstream.retries.take();
  }

  retry(): void {
    this.#retries++;
    this.#outbound.meter.retries++;
  }

  /** With another credential, once: a refused one has done nothing, and what it came with may go again. */
  mayRenew(): boolean {
    const { body, renew } = this.#outbound;
    return renew !== undefined && !this.#renewed && !(body instanceof Upload);
  }

  renew(): void {
    this.#renewed = true;
  }
}
