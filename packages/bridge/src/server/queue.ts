import { ServiceError } from '@sallyport/core';
import { Coalesced } from './coalesced.ts';
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

/** `superseded`: a newer poll of the same worker took its place. */
type PollOutcome = ClaimedWork | 'superseded' | null;

/** The polls that wait for one environment, the oldest first; kept until a tick finds none. */
interface Line {
  readonly waiters: Set<Waiter>;
  /** Gives all that wait their chance; never rejects. */
  readonly serving: Coalesced;
  /** Work for it was given to the store, where a read does not see it yet. */
  isExpecting: boolean;
  readonly subscriptions: readonly (() => void)[];
}

/** One poll that waits. An object that listens itself: there are thousands. */
class Waiter {
  readonly request: PollRequest;
  /** On the monotonic clock; a poll that does not wait ends once it was served, however long that takes. */
  readonly until: number;
  readonly #line: Line;
  readonly #resolve: (answer: PollOutcome | Promise<never>) => void;

  constructor(
    request: PollRequest,
    until: number,
    line: Line,
    resolve: (answer: PollOutcome | Promise<never>) => void,
  ) {
    this.request = request;
    this.until = until;
    this.#line = line;
    this.#resolve = resolve;
    request.signal.addEventListener('abort', this);
    line.waiters.add(this);
  }

  settle(answer: PollOutcome | ServiceError): void {
    if (!this.#line.waiters.delete(this)) return;
    this.request.signal.removeEventListener('abort', this);
    this.#resolve(answer instanceof ServiceError ? Promise.reject(answer) : answer);
  }

  /** The caller has left. */
  handleEvent(): void {
    this.settle(null);
  }
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
  poll(request: PollRequest): Promise<PollOutcome> {
    if (this.#draining || request.signal.aborted) return Promise.resolve(null);
    const { environmentId, workerKey, blockMs } = request;
    const line = this.#line(environmentId);
    for (const older of line.waiters) if (older.request.workerKey === workerKey) older.settle('superseded');
    const { promise, resolve } = Promise.withResolvers<PollOutcome>();
    const until = blockMs === 0 ? Infinity : this.#context.clock.monotonic() + blockMs;
    void serveFirst(line, new Waiter(request, until, line, resolve));
    return promise;
  }

  /**
   * To be called in the turn in which the store is given new work: where a poll waits, the claim goes with it, and one
   * commit makes and grants the item.
   */
  expect(environmentId: string): void {
    const line = this.#lines.get(environmentId);
    if (line === undefined || line.waiters.size === 0) return;
    line.isExpecting = true;
    void line.serving.run();
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
    for (const [environmentId, { waiters, subscriptions }] of this.#lines) {
      if (waiters.size > 0) presence.seen(environmentId);
      else {
        for (const unsubscribe of subscriptions) unsubscribe();
        this.#lines.delete(environmentId);
      }
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
    const serving = new Coalesced(() => this.#serve(environmentId, line));
    const { wakeups } = this.#context;
    const subscriptions = [
      wakeups.subscribe(workTopic(environmentId), () => void serving.run()),
      // Its poll would be a sign of life after the farewell.
      wakeups.subscribe(leaveTopic(environmentId), () => settleAll(waiters, null)),
    ];
    const line: Line = { waiters, serving, isExpecting: false, subscriptions };
    this.#lines.set(environmentId, line);
    return line;
  }

  async #serve(environmentId: string, line: Line): Promise<void> {
    const { waiters } = line;
    const emptyFor = new Set<string>();
    for (const waiter of [...waiters]) {
      const { types, takesWork } = waiter.request;
      const kinds = types.join();
      if (!takesWork || !waiters.has(waiter) || emptyFor.has(kinds)) continue;
      try {
        const claimed = await this.#claim(environmentId, line, types);
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

/** Gives a new poll its chance; one that does not wait is then over. */
async function serveFirst({ serving }: Line, waiter: Waiter): Promise<void> {
  if (waiter.request.takesWork) await serving.run();
  if (waiter.request.blockMs === 0) waiter.settle(null);
}

function settleAll(waiters: Iterable<Waiter>, answer: null | ServiceError): void {
  for (const waiter of waiters) waiter.settle(answer);
}

function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError('internal_error', 'The work could not be claimed.', { cause: error });
}
