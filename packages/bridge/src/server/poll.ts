import { deviceRevoked, type GrantListener, type Random, type ServiceError } from '@sallyport/core';
import type { ClaimedWork } from './acts.ts';
import type { PollLine } from './poll-line.ts';

/** Two that poll in one name would take turns as fast as they can. */
const supersededMs = 5_000;

export interface PollRequest {
  readonly environmentId: string;
  /** Tells the polls of one worker: the newest completes the one before it. */
  readonly workerKey: string;
  readonly types: readonly string[];
  /** How long to wait for work. */
  readonly blockMs: number;
  /** What the environment was registered from, and the `Grants.changes` at which that was trusted. */
  readonly device: { readonly id: string; readonly since: number };
  /** False: the caller only wants to be seen. */
  readonly takesWork: boolean;
}

export type WorkItem = {
  readonly id: string;
  readonly data: { readonly type: string; readonly id: string };
};

export interface PollAnswer {
  readonly work: WorkItem | null;
  /** What the caller should wait before its next poll. */
  readonly nextPollMs: number;
  /** A newer poll of the same worker took its place: of another process, if its caller still hears this. */
  readonly isSuperseded: boolean;
}

/** A poll that has its place in the queue. */
export interface Poll {
  /**
   * Comes with work, or without when `blockMs` went by, the poll was left, or the service drains. Rejects with what the
   * caller is refused for.
   */
  readonly answer: Promise<PollAnswer>;
  /** To be called when the answer did not, or will not, reach the caller: work that it would have is given back. */
  leave(): Promise<void>;
}

/** `superseded`: a newer poll of the same worker took its place. */
export type PollOutcome = ClaimedWork | 'superseded' | null;

/** One poll that waits. */
export class Waiter implements Poll, GrantListener {
  readonly request: PollRequest;
  readonly answer: Promise<PollAnswer>;
  /** On the monotonic clock; a poll that does not wait ends once it was served, however long that takes. */
  readonly until: number;
  readonly #line: PollLine;
  readonly #resolve: (answer: PollAnswer | Promise<never>) => void;
  #claimed: ClaimedWork | undefined;

  constructor(request: PollRequest, until: number, line: PollLine) {
    const { promise, resolve } = Promise.withResolvers<PollAnswer>();
    this.request = request;
    this.answer = promise;
    this.until = until;
    this.#line = line;
    this.#resolve = resolve;
    line.enter(this);
  }

  settle(outcome: PollOutcome): void {
    if (!this.#line.leave(this)) return;
    if (outcome !== null && outcome !== 'superseded') this.#claimed = outcome;
    this.#resolve(answerOf(outcome, this.#line.random));
  }

  refuse(error: ServiceError): void {
    if (this.#line.leave(this)) this.#resolve(Promise.reject(error));
  }

  /** Its machine is trusted no more. */
  revoked(): void {
    this.refuse(deviceRevoked());
  }

  async leave(): Promise<void> {
    this.settle(null);
    if (this.#claimed) await this.#line.giveBack(this.#claimed);
  }
}

function answerOf(outcome: PollOutcome, random: Random): PollAnswer {
  const isSuperseded = outcome === 'superseded';
  if (outcome === null || isSuperseded) {
    const nextPollMs = Math.floor((isSuperseded ? supersededMs : 0) + random.fraction() * 1001);
    return { work: null, nextPollMs, isSuperseded };
  }
  const { id, type, sessionId } = outcome;
  return { work: { id, data: { type, id: sessionId } }, nextPollMs: 0, isSuperseded };
}
