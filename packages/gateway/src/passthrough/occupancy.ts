import type { ServerResponse } from 'node:http';
import { whenEnded, type EndListener } from '../http/ending.ts';

/** Counts whose answers are not out yet, so that the last one out can be waited for. */
export class Occupancy implements EndListener {
  #inside = 0;
  #isClosing = false;
  readonly #empty = Promise.withResolvers<undefined>();

  count(response: ServerResponse): void {
    this.#inside++;
    whenEnded(response, this);
  }

  ended(): void {
    this.#inside--;
    this.#settle();
  }

  /** Settles when nobody is inside: from now on nobody comes in. */
  whenEmpty(): Promise<unknown> {
    this.#isClosing = true;
    this.#settle();
    return this.#empty.promise;
  }

  #settle(): void {
    if (this.#isClosing && this.#inside === 0) this.#empty.resolve(undefined);
  }
}
