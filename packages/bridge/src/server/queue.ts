import type { ServiceError } from '@sallyport/core';
import type { Context } from './context.ts';
import { PollLine } from './poll-line.ts';
import { Waiter, type Poll, type PollRequest } from './poll.ts';

/** Hands waiting work to polls: one claim per environment at a time, so that an item wakes one poll. */
export class PollQueue {
  readonly #context: Context;
  /** Each is kept until a tick finds nobody in it. */
  readonly #lines = new Map<string, PollLine>();
  #isDraining = false;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Polls that are held now. */
  get held(): number {
    return [...this.#lines.values()].reduce((sum, { waiters }) => sum + waiters.size, 0);
  }

  /** The environments that they are held for. */
  *polled(): Iterable<string> {
    for (const [environmentId, { waiters }] of this.#lines) if (waiters.size > 0) yield environmentId;
  }

  poll(request: PollRequest): Poll {
    const { environmentId, workerKey, blockMs } = request;
    const line = this.#line(environmentId);
    for (const older of line.waiters) if (older.request.workerKey === workerKey) older.settle('superseded');
    const until = blockMs === 0 ? Infinity : this.#context.clock.monotonic() + blockMs;
    const waiter = new Waiter(request, until, line);
    if (this.#isDraining) line.drain();
    else void line.serveFirst(waiter);
    return waiter;
  }

  /**
   * To be called in the turn in which the store is given new work: where a poll waits, the claim goes with it, and one
   * commit makes and grants the item.
   */
  expect(environmentId: string): void {
    this.#lines.get(environmentId)?.expect();
  }

  /** Ends the polls whose time is over; an environment whose poll is held is there. */
  tick(): void {
    const { clock, presence } = this.#context;
    const now = clock.monotonic();
    for (const [environmentId, line] of this.#lines) {
      if (line.waiters.size > 0) presence.seen(environmentId);
      else {
        line.close();
        this.#lines.delete(environmentId);
      }
      for (const waiter of line.waiters) if (waiter.until <= now) waiter.settle(null);
    }
  }

  /** Ends the polls of an environment that is gone. */
  refuse(environmentId: string, error: ServiceError): void {
    for (const waiter of this.#lines.get(environmentId)?.waiters ?? []) waiter.refuse(error);
  }

  /** Answers all polls, and all to come, with null. */
  drain(): void {
    this.#isDraining = true;
    for (const line of this.#lines.values()) line.drain();
  }

  #line(environmentId: string): PollLine {
    const line = this.#lines.get(environmentId) ?? new PollLine(this.#context, environmentId);
    this.#lines.set(environmentId, line);
    return line;
  }
}
