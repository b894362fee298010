/** Things that happen one after another; a test awaits the first that it looks for, past ones included. */
export class Recorder<T> {
  readonly all: T[] = [];
  readonly #waiting = new Set<() => void>();

  readonly add = (item: T): void => {
    this.all.push(item);
    for (const look of [...this.#waiting]) look();
  };

  /** The `count`th item that fits. */
  until<S extends T>(fits: (item: T) => item is S, count?: number): Promise<S>;
  until(fits: (item: T) => boolean, count?: number): Promise<T>;
  until(fits: (item: T) => boolean, count = 1): Promise<T> {
    return new Promise((resolve) => {
      const look = () => {
        const found = this.all.filter((item) => fits(item))[count - 1];
        if (found === undefined) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }
}
