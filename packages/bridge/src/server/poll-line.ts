import { ServiceError, type Random, type WakeListener } from '@sallyport/core';
import type { ClaimedWork } from './acts.ts';
import { Coalesced } from './coalesced.ts';
import { timing, wake, type Context } from './context.ts';
import type { Waiter } from './poll.ts';
import { leaveTopic, workTopic } from './topics.ts';

/** The polls that wait for one environment, the oldest first. Woken, it gives all their chance; that never rejects. */
export class PollLine extends Coalesced {
  readonly waiters = new Set<Waiter>();
  readonly #context: Context;
  readonly #environmentId: string;
  readonly #leaving: WakeListener;
  /** Work for it was given to the store, where a read does not see it yet. */
  #isExpecting = false;
  #isDraining = false;

  constructor(context: Context, environmentId: string) {
    super();
    this.#context = context;
    this.#environmentId = environmentId;
    this.#leaving = new Leaving(this);
    context.wakeups.subscribe(workTopic(environmentId), this);
    context.wakeups.subscribe(leaveTopic(environmentId), this.#leaving);
  }

  get random(): Random {
    return this.#context.random;
  }

  enter(waiter: Waiter): void {
    const { id, since } = waiter.request.device;
    this.waiters.add(waiter);
    this.#context.devices.watch(id, waiter, since);
  }

  /** Gives whether it was there. */
  leave(waiter: Waiter): boolean {
    this.#context.devices.unwatch(waiter.request.device.id, waiter);
    return this.waiters.delete(waiter);
  }

  close(): void {
    const { wakeups } = this.#context;
    wakeups.unsubscribe(workTopic(this.#environmentId), this);
    wakeups.unsubscribe(leaveTopic(this.#environmentId), this.#leaving);
  }

  /** See `PollQueue.expect`. */
  expect(): void {
    if (this.waiters.size === 0) return;
    this.#isExpecting = true;
    this.wake();
  }

  /** Gives a new poll its chance; one that does not wait is then over. */
  async serveFirst(waiter: Waiter): Promise<void> {
    if (waiter.request.takesWork) await this.run();
    if (waiter.request.blockMs === 0) waiter.settle(null);
  }

  /** Answers all with null. */
  end(): void {
    for (const waiter of this.waiters) waiter.settle(null);
  }

  drain(): void {
    this.#isDraining = true;
    this.end();
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

  protected async act(): Promise<void> {
    const { waiters } = this;
    const emptyFor = new Set<string>();
    for (const waiter of [...waiters]) {
      const { types, takesWork } = waiter.request;
      const kinds = types.join();
      if (!takesWork || !waiters.has(waiter) || emptyFor.has(kinds)) continue;
      try {
        const claimed = await this.#claim(types);
        if (claimed === null) emptyFor.add(kinds);
        else if (waiters.has(waiter)) waiter.settle(claimed);
        else await this.giveBack(claimed);
      } catch (error) {
        waiter.refuse(toServiceError(error));
      }
    }
  }

  async #claim(types: readonly string[]): Promise<ClaimedWork | null> {
    const { store } = this.#context;
    const environmentId = this.#environmentId;
    // Asked first, so that a poll that finds nothing never waits for the writer.
    if (!this.#isExpecting && (await store.reads.waitingWork({ environmentId, types })) === undefined)
      return null;
    this.#isExpecting = false;
    if (this.#isDraining) return null;
    return store.acts.claimWork({ environmentId, types, ...timing(this.#context) });
  }
}

/** The environment's bridge says that it stops: its poll would be a sign of life after the farewell. */
class Leaving implements WakeListener {
  readonly #line: PollLine;

  constructor(line: PollLine) {
    this.#line = line;
  }

  wake(): void {
    this.#line.end();
  }
}

function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError('internal_error', 'The work could not be claimed.', { cause: error });
}
