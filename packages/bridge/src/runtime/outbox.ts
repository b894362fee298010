import { asOutputLine, JoinedLines, type OutputLine } from './joined-lines.ts';

/** Above `high` unacknowledged bytes the process has to wait, until they are below `low` again. */
const high = 1024 * 1024;
const low = 256 * 1024;

export type SendFrame = (frame: string) => void;

/**
 * A session's own events until the service has acknowledged them, in order. While a stream is attached they go out at once;
 * a new stream gets all of them again, and the service tells by their ids which ones it has. Lines of output that come
 * while others are under way share an event, because the service counts events.
 */
export class Outbox {
  readonly #waiting = new Map<string, string>();
  readonly #onFull: (isFull: boolean) => void;
  readonly #settled = new Map<string, () => void>();
  #bytes = 0;
  #isFull = false;
  #send: SendFrame | undefined;
  /** The event that is not closed yet. Only while others are unacknowledged: their acknowledgement sends it. */
  #open: { readonly id: string; readonly lines: JoinedLines } | undefined;
  #openBytes = 0;

  constructor(onFull: (isFull: boolean) => void) {
    this.#onFull = onFull;
  }

  /** Unacknowledged bytes, as UTF-8. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A line that joins others is part of their event, whose id is another. */
  push(id: string, type: string, data: Readonly<Record<string, unknown>>): void {
    const line = this.#waiting.size > 0 ? asOutputLine(type, data) : undefined;
    if (line) return this.#join(id, line);
    this.#closeEvent();
    this.#add(id, type, data);
  }

  #join(id: string, line: OutputLine): void {
    if (!this.#open?.lines.add(line)) {
      this.#closeEvent();
      this.#open = { id, lines: new JoinedLines(line) };
    }
    const bytes = Buffer.byteLength(line.text) + 1;
    this.#openBytes += bytes;
    this.#weigh(bytes);
  }

  #closeEvent(): void {
    if (!this.#open) return;
    const { id, lines } = this.#open;
    this.#open = undefined;
    this.#add(id, 'session.output', { ...lines.data }, this.#openBytes);
    this.#openBytes = 0;
  }

  /** `counted`: bytes of it that are weighed already. */
  #add(id: string, type: string, data: Readonly<Record<string, unknown>>, counted = 0): void {
    const frame = JSON.stringify({ id, type, data });
    this.#waiting.set(id, frame);
    this.#weigh(Buffer.byteLength(frame) - counted);
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
    if (this.#waiting.size === 0) this.#closeEvent();
  }

  #weigh(change: number): void {
    this.#bytes += change;
    const isFull = this.#isFull ? this.#bytes > low : this.#bytes > high;
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#onFull(isFull);
  }
}
