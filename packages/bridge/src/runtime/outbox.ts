/** Above `high` unacknowledged bytes the process has to wait, until they are below `low` again. */
const high = 1024 * 1024;
const low = 256 * 1024;

export type SendFrame = (frame: string) => void;

/**
 * A session's own events until the service has acknowledged them, in order. While a stream is attached they go out at once;
 * a new stream gets all of them again, and the service tells by their ids which ones it has.
 */
export class Outbox {
  readonly #waiting = new Map<string, string>();
  readonly #onFull: (isFull: boolean) => void;
  readonly #settled = new Map<string, () => void>();
  #bytes = 0;
  #isFull = false;
  #send: SendFrame | undefined;

  constructor(onFull: (isFull: boolean) => void) {
    this.#onFull = onFull;
  }

  /** Unacknowledged bytes, as UTF-8. */
  get bytes(): number {
    return this.#bytes;
  }

  push(id: string, type: string, data: Readonly<Record<string, unknown>>): void {
    const frame = JSON.stringify({ id, type, data });
    this.#waiting.set(id, frame);
    this.#weigh(Buffer.byteLength(frame));
    this.#send?.(frame);
  }

  /** Resolves when the service has the event. */
  settled(id: string): Promise<void> {
    if (!this.#waiting.has(id)) return Promise.resolve();
    return new Promise((resolve) => this.#settled.set(id, resolve));
  }

  attach(send: SendFrame): void {
    this.#send = send;
    for (const frame of this.#waiting.values()) send(frame);
  }

  detach(): void {
    this.#send = undefined;
  }

  acknowledge(id: string): void {
    const frame = this.#waiting.get(id);
    if (frame === undefined) return;
    this.#waiting.delete(id);
    this.#weigh(-Buffer.byteLength(frame));
    this.#settled.get(id)?.();
    this.#settled.delete(id);
  }

  #weigh(change: number): void {
    this.#bytes += change;
    const isFull = this.#isFull ? this.#bytes > low : this.#bytes > high;
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#onFull(isFull);
  }
}
