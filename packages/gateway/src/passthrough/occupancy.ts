/** Counts who is inside, so that the last one out can be waited for. */
export class Occupancy {
  #inside = 0;
  #isClosing = false;
  readonly #empty = Promise.withResolvers<undefined>();

  readonly left = (): void => {
    this.#inside--;
    this.#settle();
  };

  entered(): void {
    this.#inside++;
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
