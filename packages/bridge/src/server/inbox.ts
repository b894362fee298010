import type { WorkerEvent } from '../protocol/frames.ts';
import type { Context } from './context.ts';
import type { StreamSocket } from './stream-socket.ts';

/** Events of one act. */
const batchSize = 500;

/** Where the events go. */
export interface EventLog {
  append(events: readonly WorkerEvent[]): Promise<void>;
}

/**
 * A worker's events on their way into the log: appended in order, one batch at a time, so that what comes while one is
 * committed shares the next. Reading stops while too many come in a second, or too many bytes wait.
 */
export class Inbox {
  readonly #log: EventLog;
  readonly #socket: StreamSocket;
  readonly #context: Pick<Context, 'clock' | 'config'>;
  #waiting: { readonly event: WorkerEvent; readonly size: number }[] = [];
  #bytes = 0;
  #appending = false;
  #secondStart: number;
  #inSecond = 0;
  #isPaused = false;
  #isStopped = false;

  constructor(log: EventLog, socket: StreamSocket, context: Pick<Context, 'clock' | 'config'>) {
    this.#log = log;
    this.#socket = socket;
    this.#context = context;
    this.#secondStart = context.clock.monotonic();
  }

  /** Whether nothing is under way, and nothing to be remembered. */
  get isQuiet(): boolean {
    return this.#inSecond === 0 && !this.#appending && !this.#isStopped;
  }

  push(event: WorkerEvent, size: number): void {
    if (this.#isStopped) return;
    this.#waiting.push({ event, size });
    this.#bytes += size;
    this.#inSecond++;
    this.#regulate();
    if (!this.#appending) void this.#drain();
  }

  /** Drops what waits and what comes: after a failure nothing may overtake what the worker will send again. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting = [];
  }

  tick(): void {
    const now = this.#context.clock.monotonic();
    if (now - this.#secondStart < 1000) return;
    this.#secondStart = now;
    this.#inSecond = 0;
    this.#regulate();
  }

  async #drain(): Promise<void> {
    this.#appending = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchSize);
      await this.#log.append(batch.map(({ event }) => event));
      for (const { size } of batch) this.#bytes -= size;
      this.#regulate();
    }
    this.#appending = false;
  }

  #regulate(): void {
    const { inboundEventsPerSecond, sendHighBytes } = this.#context.config;
    const isTooMuch = this.#inSecond >= inboundEventsPerSecond || this.#bytes >= sendHighBytes;
    if (isTooMuch === this.#isPaused) return;
    this.#isPaused = isTooMuch;
    if (isTooMuch) this.#socket.pause();
    else this.#socket.resume();
  }
}
