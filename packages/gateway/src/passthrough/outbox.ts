import type { Clock, Ids, Log, Random, Timer } from '@sallyport/core';
import type { Stat } from '../metrics/sources.ts';
import type { Deliver, DeliveredAnswer } from './delivery.ts';
import type { CountedRequest, OutboxHead, OutboxRequest, OutboxStore, WhenFull } from './outbox-ports.ts';
import { startQueue, type Failure, type Queue } from './outbox-queue.ts';
import { createOutboxCounts, outboxStats } from './outbox-stats.ts';
import { createTurns } from './turns.ts';

export interface OutboxLimits {
  /** All that is kept together. 0: nothing is kept. */
  readonly outboxBytes: number;
  readonly outboxRecords: number;
  readonly outboxFull: WhenFull;
  readonly outboxDays: number;
}

export interface OutboxOptions {
  readonly store: OutboxStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
}

/** Store and forward: what its upstream cannot take now waits on disk, and goes there later, in order, at least once. */
export interface Outbox {
  /** How requests get upstream from now on; `undefined`: what is kept waits. */
  use(deliver: Deliver | undefined, limits: OutboxLimits): void;
  /** Sends one at once, if none of its queue waits before it. `undefined`: it has to be kept. */
  deliver(request: OutboxRequest): Promise<DeliveredAnswer | undefined>;
  /** Settles when the request is safe on disk; `false`: there is no room for it. */
  keep(request: CountedRequest): Promise<boolean>;
  /** One that was dropped as it came, since its organization keeps no data. */
  countZeroRetention(): void;
  /** Lets go of dead letters that are too old, and begins with what waits, should anything stand still. */
  sweep(): Promise<void>;
  /** A sentence where the upstream refuses the credential that telemetry goes there with. */
  refusedCredential(): string | undefined;
  stats(): readonly Stat[];
  /** Ends at once: what was not taken stays where it is. */
  stop(): Promise<void>;
}

/** A caller waits no longer than this before its request is kept instead. */
const atOnceMs = 2000;
/** Queues that are on their way at a time: each has one request in memory then. */
const queuesAtATime = 4;
/** While there are dead letters, a command beside the gateway may put one back, without a word: it is seen within this time. */
const lookMs = 2000;
const dayMs = 24 * 3600 * 1000;
/** Left on the disk, so that what is taken upstream can be removed here. */
export const reserveBytes = 16 * 1024 * 1024;

/** Opens the outbox with what has been waiting since before the start. */
export async function openOutbox({ store, clock, random, ids, log }: OutboxOptions): Promise<Outbox> {
  const abort = new AbortController();
  const { signal } = abort;
  const counts = createOutboxCounts();
  const queues = new Map<string, Queue>();
  const failing = new Map<string, Failure>();
  let limits: OutboxLimits = { outboxBytes: 0, outboxRecords: 0, outboxFull: 'reject', outboxDays: 0 };
  let deliver: Deliver | undefined;
  let beginning: Promise<void> | undefined;
  let look: Timer | undefined;
  let head: OutboxHead = await store.head();

  const context = {
    store,
    clock,
    random,
    ids,
    log,
    signal,
    counts,
    failing,
    turns: createTurns(queuesAtATime),
    deliver: () => deliver,
    tooOld: () => clock.now() - limits.outboxDays * dayMs,
    changed,
  };

  function changed(now: OutboxHead): void {
    head = now;
    if (head.deadLetters.requests === 0 || deliver === undefined || signal.aborted) return;
    look ??= clock.after(lookMs, () => {
      look = undefined;
      beginWhatWaits();
    });
  }

  function begin(organizationId: string): void {
    const queue = queues.get(organizationId);
    if (queue !== undefined) return queue.wake();
    if (deliver === undefined || signal.aborted) return;
    const started = startQueue(organizationId, context);
    queues.set(organizationId, started);
    void started.ended.then(() => {
      queues.delete(organizationId);
      if (started.hasMore()) begin(organizationId);
    });
  }

  async function beginAll(): Promise<void> {
    changed(await store.head());
    for (const organizationId of await store.queues()) begin(organizationId);
  }

  function beginWhatWaits(): void {
    const begun = Promise.resolve(beginning)
      .then(beginAll)
      .catch((error: unknown) => {
        log.error({ err: error }, 'the outbox cannot be read; it is tried again');
        changed(head);
      })
      .finally(() => {
        if (beginning === begun) beginning = undefined;
      });
    beginning = begun;
  }

  return {
    use(next, bounds) {
      deliver = next;
      limits = bounds;
      beginWhatWaits();
    },
    async deliver(request) {
      await beginning;
      if (deliver === undefined || queues.has(request.organizationId)) return undefined;
      return (await deliver(request, atOnceMs, signal)).answer;
    },
    async keep(request) {
      // A view is cloned with its whole buffer on its way to the writer.
      const body = new Uint8Array(request.body);
      const { outboxBytes: maxBytes, outboxRecords: maxRecords, outboxFull: whenFull } = limits;
      const kept = await store.keep({
        ...request,
        body,
        bounds: { maxBytes, maxRecords, reserveBytes, whenFull },
      });
      changed(kept);
      counts.dropped.overflow += kept.dropped;
      if (!kept.isKept) return false;
      counts.kept++;
      begin(request.organizationId);
      return true;
    },
    countZeroRetention() {
      counts.dropped.zero_retention++;
    },
    async sweep() {
      for (let isDone = limits.outboxDays === 0; !isDone;) {
        const expired = await store.expireDeadLetters({ refusedBefore: context.tooOld() });
        counts.dropped.refused += expired.dropped;
        isDone = expired.done;
      }
      await beginAll();
    },
    refusedCredential() {
      const refused = [...failing.values()].find(({ isCredential }) => isCredential);
      return refused && `Telemetry waits: the upstream refuses the gateway's credential (${refused.reason}).`;
    },
    stats: () => outboxStats(head, counts, clock.now()),
    async stop() {
      abort.abort();
      look?.cancel();
      await beginning;
      await Promise.all([...queues.values()].map(({ ended }) => ended));
    },
  };
}
