import { ServiceError } from '@sallyport/core';
import { coalesced } from './coalesced.ts';
import { timing, wake, type Context } from './context.ts';
import type { ClaimedWork } from './acts.ts';
import { leaveTopic, workTopic } from './topics.ts';

export interface PollRequest {
  readonly environmentId: string;
  /** Tells the polls of one worker: the newest completes the one before it. */
  readonly workerKey: string;
  readonly types: readonly string[];
  /** How long to wait for work. */
  readonly blockMs: number;
  /** False: the caller only wants to be seen. */
  readonly takesWork: boolean;
  /** Aborts when the caller goes away. */
  readonly signal: AbortSignal;
}

interface Waiter extends PollRequest {
  /** On the monotonic clock; a poll that does not wait ends once it was served, however long that takes. */
  readonly until: number;
  readonly settle: (answer: PollOutcome | ServiceError) => void;
}

/** `superseded`: a newer poll of the same worker took its place. */
type PollOutcome = ClaimedWork | 'superseded' | null;

/** The polls that wait for one environment, the oldest first. */
interface Line {
  readonly waiters: Set<Waiter>;
  /** Gives all that wait their chance; never rejects. */
  readonly serve: () => Promise<void>;
  /** Work for it was given to the store, where a read does not see it yet. */
  isExpecting: boolean;
  readonly unsubscribe: () => void;
}

/** Hands waiting work to polls: one claim per environment at a time, so that an item wakes one poll. */
export class PollQueue {
  readonly #context: Context;
  readonly #lines = new Map<string, Line>();
  #draining = false;

  constructor(context: Context) {
    this.#context = context;
  }

  /** The next item, or null when `blockMs` went by, the caller left, or the service drains. */
  async poll(request: PollRequest): Promise<PollOutcome> {
    if (this.#draining || request.signal.aborted) return null;
    const line = this.#line(request.environmentId);
    for (const older of line.waiters) if (older.workerKey === request.workerKey) older.settle('superseded');

    const { promise, resolve } = Promise.withResolvers<PollOutcome | ServiceError>();
    const leave = () => waiter.settle(null);
    const waiter: Waiter = {
      ...request,
      until: request.blockMs === 0 ? Infinity : this.#context.clock.monotonic() + request.blockMs,
      settle(answer) {
        if (!line.waiters.delete(waiter)) return;
        request.signal.removeEventListener('abort', leave);
        resolve(answer);
      },
    };
    request.signal.addEventListener('abort', leave, { once: true });
    line.waiters.add(waiter);
    if (request.takesWork) await line.serve();
    if (request.blockMs === 0) waiter.settle(null);
    const answer = await promise;
    this.#sweepLine(request.environmentId, line);
    if (answer instanceof ServiceError) throw answer;
    return answer;
  }

  /**
   * To be called in the turn in which the store is given new work: where a poll waits, the claim goes with it, and one
   * commit makes and grants the item.
   */
  expect(environmentId: string): void {
    const line = this.#lines.get(environmentId);
    if (line === undefined) return;
    line.isExpecting = true;
    void line.serve();
  }

  /** Takes back what was granted to a caller who did not get the answer. */
  async giveBack({ id: workId, delivery }: ClaimedWork): Promise<void> {
    const returned = await this.#context.store.acts.returnWork({
      workId,
      delivery,
      ...timing(this.#context),
    });
    if (returned) wake(this.#context, returned);
  }

  /** Ends the polls whose time is over; an environment whose poll is held is there. */
  tick(): void {
    const { clock, presence } = this.#context;
    const now = clock.monotonic();
    for (const [environmentId, { waiters }] of this.#lines) {
      if (waiters.size > 0) presence.seen(environmentId);
      for (const waiter of waiters) if (waiter.until <= now) waiter.settle(null);
    }
  }

  /** Ends the polls of an environment that is gone. */
  refuse(environmentId: string, error: ServiceError): void {
    settleAll(this.#lines.get(environmentId)?.waiters ?? [], error);
  }

  /** Answers all polls, and all to come, with null. */
  drain(): void {
    this.#draining = true;
    for (const { waiters } of this.#lines.values()) settleAll(waiters, null);
  }

  #line(environmentId: string): Line {
    const known = this.#lines.get(environmentId);
    if (known) return known;
    const waiters = new Set<Waiter>();
    const serve = coalesced(() => this.#serve(environmentId, line));
    const { wakeups } = this.#context;
    const subscriptions = [
      wakeups.subscribe(workTopic(environmentId), () => void serve()),
      // Its poll would be a sign of life after the farewell.
      wakeups.subscribe(leaveTopic(environmentId), () => settleAll(waiters, null)),
    ];
    const unsubscribe = () => subscriptions.forEach((end) => end());
    const line: Line = { waiters, serve, isExpecting: false, unsubscribe };
    this.#lines.set(environmentId, line);
    return line;
  }

  #sweepLine(environmentId: string, line: Line): void {
    if (line.waiters.size > 0 || this.#lines.get(environmentId) !== line) return;
    line.unsubscribe();
    this.#lines.delete(environmentId);
  }

  async #serve(environmentId: string, line: Line): Promise<void> {
    const { waiters } = line;
    const emptyFor = new Set<string>();
    for (const waiter of [...waiters]) {
      const kinds = waiter.types.join();
      if (!waiter.takesWork || !waiters.has(waiter) || emptyFor.has(kinds)) continue;
      try {
        const claimed = await this.#claim(environmentId, line, waiter.types);
        if (claimed === null) emptyFor.add(kinds);
        else if (waiters.has(waiter)) waiter.settle(claimed);
        else await this.giveBack(claimed);
      } catch (error) {
        waiter.settle(toServiceError(error));
      }
    }
  }

  async #claim(environmentId: string, line: Line, types: readonly string[]): Promise<ClaimedWork | null> {
    const { store } = this.#context;
    // Asked first, so that a poll that finds nothing never waits for the writer.
    if (!line.isExpecting && (await store.reads.waitingWork({ environmentId, types })) === undefined)
      return null;
    line.isExpecting = false;
    if (this.#draining) return null;
    return store.acts.claimWork({ environmentId, types, ...timing(this.#context) });
  }
}

function settleAll(waiters: Iterable<Waiter>, answer: null | ServiceError): void {
  for (const waiter of waiters) waiter.settle(answer);
}

function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError('internal_error', 'The work could not be claimed.', { cause: error });
}
