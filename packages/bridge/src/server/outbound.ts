import type { WakeListener } from '@sallyport/core';
import type { SessionEvent } from '@sallyport/core/contract';
import type { ServiceFrame } from '../protocol/frames.ts';
import type { Context } from './context.ts';
import { toSessionEvents } from './log.ts';
import type { StreamSocket } from './stream-socket.ts';

interface Page {
  readonly events: SessionEvent[];
  readonly scannedTo: number;
}

/**
 * What a worker's socket gets: a cursor into the session's log that moves only while the socket takes more, so a reader
 * that stands still holds one page and what the socket has buffered. The worker's own events are left out.
 */
export class Outbound {
  readonly #context: Context;
  readonly #sessionId: string;
  readonly #socket: StreamSocket;
  /** Woken when the socket that was full takes more. */
  readonly #reader: WakeListener;
  #cursor: number;
  /** What was read and is not sent yet. */
  #page: Page | undefined;
  #caughtUp = false;
  #isClosed = false;
  #isFull = false;
  /** When the socket last took something of what is being sent; undefined once it has all. */
  #takenAt: number | undefined;

  constructor(
    context: Context,
    sessionId: string,
    socket: StreamSocket,
    after: number,
    reader: WakeListener,
  ) {
    this.#context = context;
    this.#sessionId = sessionId;
    this.#socket = socket;
    this.#reader = reader;
    this.#cursor = after;
  }

  /** Up to where the log was sent. */
  get cursor(): number {
    return this.#cursor;
  }

  close(): void {
    this.#isClosed = true;
  }

  get isSending(): boolean {
    return this.#takenAt !== undefined;
  }

  /** Whether the socket has not taken anything for so long of what is being sent. */
  isStuckFor(ms: number): boolean {
    return this.#takenAt !== undefined && this.#context.clock.monotonic() - this.#takenAt >= ms;
  }

  /** Sends what the log has and the socket takes. */
  async sendLog(): Promise<void> {
    while (this.#sendPage()) if (!(await this.#readPage())) return;
  }

  /** A frame of the moment: small, and not held back. */
  send(frame: ServiceFrame): void {
    if (!this.#isClosed) this.#sendText(JSON.stringify(frame));
  }

  #sendText(text: string): void {
    this.#takenAt ??= this.#context.clock.monotonic();
    this.#socket.sendText(text, () => this.#taken());
  }

  /** Reads the next page; false where there is none. */
  async #readPage(): Promise<boolean> {
    const { store, accounts, config } = this.#context;
    const { events, scannedTo } = await store.reads.events({
      sessionId: this.#sessionId,
      after: this.#cursor,
      maxEvents: config.pageEvents,
      maxBytes: config.pageBytes,
      without: 'worker',
    });
    if (scannedTo > this.#cursor) {
      this.#page = { events: [...(await toSessionEvents(accounts, this.#sessionId, events))], scannedTo };
      return true;
    }
    if (!this.#caughtUp) this.send({ type: 'caught_up', seq: this.#cursor });
    this.#caughtUp = true;
    return false;
  }

  /** Sends the rest of the page; false where the socket is full, or closed. */
  #sendPage(): boolean {
    const { config } = this.#context;
    const { events, scannedTo } = this.#page ?? { events: [], scannedTo: this.#cursor };
    for (let event = events[0]; event && !this.#isClosed; event = events[0]) {
      const text = JSON.stringify(event);
      const waiting = this.#socket.bufferedAmount;
      if (waiting > 0 && waiting + Buffer.byteLength(text) > config.sendHighBytes) {
        this.#isFull = true;
        return false;
      }
      events.shift();
      this.#cursor = event.seq;
      this.#sendText(text);
    }
    if (this.#isClosed) return false;
    this.#cursor = scannedTo;
    this.#page = undefined;
    return true;
  }

  #taken(): void {
    if (this.#isClosed) return;
    const waiting = this.#socket.bufferedAmount;
    this.#takenAt = waiting > 0 ? this.#context.clock.monotonic() : undefined;
    if (!this.#isFull || waiting >= this.#context.config.sendLowBytes) return;
    this.#isFull = false;
    this.#reader.wake();
  }
}
