/** What is measured of a queue: items of a kind that only says which one it is, and a worker that does nothing. */
export interface Queue {
  /** Resolves when the item is as safe as the queue makes it. */
  add(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a queue of its own with `workers` that take items at once. */
export type OpenQueue = (options: {
  readonly workers: number;
  /** One process is to have an item: its worker has been handed it. */
  readonly taken: () => void;
  /** The queue knows that the item is done. */
  readonly done: () => void;
}) => Promise<Queue>;
