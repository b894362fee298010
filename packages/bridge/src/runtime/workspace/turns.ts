/** Lets who acts on the same thing take turns: git's own locks fail where they could wait. */
export class Turns {
  /** The end of what is under way, by the thing's name. */
  readonly #busy = new Map<string, Promise<unknown>>();

  async alone<T>(key: string, act: () => Promise<T>): Promise<T> {
    const turn = (this.#busy.get(key) ?? Promise.resolve()).then(act);
    const over = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#busy.set(key, over);
    try {
      return await turn;
    } finally {
      if (this.#busy.get(key) === over) this.#busy.delete(key);
    }
  }
}
