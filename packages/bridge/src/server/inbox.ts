import type { Clock } from '@sallyport/core';
import type { WorkerEvent } from '../protocol/frames.ts';
import type { BridgeConfig } from './config.ts';
import type { StreamSocket } from './stream-socket.ts';

/** Events of one act. */
const batchSize = 500;

/**
 * A worker's events on their way into the log: appended in order, one batch at a time, so that what comes while one is
 * committed shares the next. Reading stops while too many come in a second, or too many bytes wait.
 */
export class Inbox {
  readonly #socket: StreamSocket;
  readonly #clock: Clock;
  readonly #config: BridgeConfig;
  readonly #append: (events: readonly WorkerEvent[]) => Promise<void>;
  #waiting: { readonly event: WorkerEvent; readonly size: number }[] = [];
  #bytes = 0;
  #appending = false;
  #secondStart: number;
  #inSecond = 0;
  #isPaused = false;
  #isStopped = false;

  constructor(
    socket: StreamSocket,
    clock: Clock,
    config: BridgeConfig,
    append: (events: readonly WorkerEvent[]) => Promise<void>,
  ) {
    this.#socket = socket;
    this.#clock = clock;
    this.#config = config;
    this.#append = append;
    this.#secondStart = clock.monotonic();
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
    if (this.#clock.monotonic() - this.#secondStart < 1000) return;
    this.#secondStart = this.#clock.monotonic();
    this.#inSecond = 0;
    this.#regulate();
  }

  async #drain(): Promise<void> {
    this.#appending = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchSize);
      await this.#append(batch.map(({ event }) => event));
      for (const { size } of batch) this.#bytes -= size;
      this.#regulate();
    }
    this.#appending = false;
  }

  #regulate(): void {
    const { inboundEventsPerSecond, sendHighBytes } = this.#config;
    const isTooMuch = this.#inSecond >= inboundEventsPerSecond || this.#bytes >= sendHighBytes;
    if (isTooMuch === this.#isPaused) return;
    this.#isPaused = isTooMuch;
    if (isTooMuch) this.#socket.pause();
    else this.#socket.resume();
  }
}
