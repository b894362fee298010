import { createLatch, fullJitter, sleep, type Clock, type Log, type Random } from '@sallyport/core';
import type { Stat } from '../metrics/sources.ts';
import type { Deliver, DeliveredAnswer } from './delivery.ts';
import type { KeptRequest, OutboxHead, OutboxRequest, OutboxStore, WhenFull } from './outbox-ports.ts';

export interface OutboxLimits {
  /** All that is kept together. 0: nothing is kept. */
  readonly outboxBytes: number;
  readonly outboxFull: WhenFull;
  readonly outboxDays: number;
}

export interface OutboxOptions {
  readonly store: OutboxStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Store and forward: what its upstream cannot take now waits on disk, and goes there later, in order, at least once. */
export interface Outbox {
  /** How requests get upstream from now on; `undefined`: what is kept waits. */
  use(deliver: Deliver | undefined, limits: OutboxLimits): void;
  /** Sends one at once, if none waits before it. `undefined`: it has to be kept. */
  deliver(request: OutboxRequest): Promise<DeliveredAnswer | undefined>;
  /** Settles when the request is safe on disk; `false`: there is no room for it. */
  keep(request: OutboxRequest): Promise<boolean>;
  stats(): readonly Stat[];
  /** Ends at once: what was not taken stays where it is. */
  stop(): Promise<void>;
}

/** A caller waits no longer than this before its request is kept instead. */
const atOnceMs = 2000;
const laterMs = 30_000;
/** What an upstream that is told to wait may ask for at most. */
const longestWaitMs = 15 * 60_000;
const dayMs = 24 * 3600 * 1000;

/** Opens the outbox with what has been waiting since before the start. */
export async function openOutbox({ store, clock, random, log }: OutboxOptions): Promise<Outbox> {
  const abort = new AbortController();
  const { signal } = abort;
  const latch = createLatch();
  const counts = { kept: 0, forwarded: 0, retries: 0 };
  const dropped = { overflow: 0, age: 0, refused: 0 };
  let limits: OutboxLimits = { outboxBytes: 0, outboxFull: 'reject', outboxDays: 0 };
  let head: OutboxHead = await store.head();
  let deliver: Deliver | undefined;
  let failing = false;

  async function run(): Promise<void> {
    for (let attempt = 0; !signal.aborted;) {
      try {
        const next = deliver && head.requests > 0 ? await oldest() : undefined;
        if (next === undefined) {
          await latch.wait(signal);
          attempt = 0;
          continue;
        }
        const waitMs = await step(next);
        if (waitMs === undefined) attempt = 0;
        else await sleep(clock, Math.max(waitMs, fullJitter(random, attempt++)), signal);
      } catch (error) {
        if (abort.signal.aborted) return;
        // The store's trouble passes, too; what was taken and not noted is sent again.
        log.error({ err: error }, 'the outbox was interrupted and begins again');
        await sleep(clock, fullJitter(random, attempt++), signal);
      }
    }
  }

  /** The next to go, once those that are too old have gone. */
  async function oldest(): Promise<KeptRequest | undefined> {
    const receivedBefore = clock.now() - limits.outboxDays * dayMs;
    for (;;) {
      const next = await store.oldest();
      if (next === undefined || next.receivedAt >= receivedBefore) return next;
      const expired = await store.expire({ receivedBefore });
      head = expired;
      dropped.age += expired.dropped;
    }
  }

  /** `undefined`: it is gone from the outbox; else how long to wait before it is tried again. */
  async function step(request: KeptRequest): Promise<number | undefined> {
    const delivery = await deliver?.(request, laterMs, signal);
    if (delivery === undefined) return 0;
    if (delivery.answer === undefined) {
      counts.retries++;
      if (!failing) log.warn({ reason: delivery.reason }, 'telemetry waits for its upstream');
      failing = true;
      return Math.min(delivery.waitMs, longestWaitMs);
    }
    if (failing) log.info({ requests: head.requests }, 'telemetry goes upstream again');
    failing = false;
    const { status } = delivery.answer;
    head = await store.settle({ id: request.id });
    if (status < 400) counts.forwarded++;
    else {
      dropped.refused++;
      log.warn(
        { status, path: request.path },
        'the upstream refuses a request that was kept: it is left out',
      );
    }
    return undefined;
  }

  const running = run().catch((error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, 'the outbox has ended');
  });

  return {
    use(next, bounds) {
      deliver = next;
      limits = bounds;
      latch.wake();
    },
    async deliver(request) {
      if (deliver === undefined || head.requests > 0) return undefined;
      return (await deliver(request, atOnceMs, signal)).answer;
    },
    async keep(request) {
      // A view is cloned with its whole buffer on its way to the writer.
      const body = new Uint8Array(request.body);
      const { outboxBytes: maxBytes, outboxFull: whenFull } = limits;
      const kept = await store.keep({ ...request, body, maxBytes, whenFull });
      head = kept;
      dropped.overflow += kept.dropped;
      if (kept.isKept) counts.kept++;
      latch.wake();
      return kept.isKept;
    },
    stats: () => [
      gauge('requests', 'requests that wait for the upstream', head.requests),
      gauge('bytes', 'what they take on disk', head.bytes),
      counter('kept_total', 'requests that were accepted to be sent later', counts.kept),
      counter('forwarded_total', 'kept requests that the upstream has taken', counts.forwarded),
      counter('retries_total', 'deliveries of kept requests that failed and are made again', counts.retries),
      ...Object.entries(dropped).map(([reason, value]) => ({
        ...counter('dropped_total', 'kept requests that are gone without having been taken', value),
        labels: { reason },
      })),
    ],
    async stop() {
      abort.abort();
      await running;
    },
  };
}

function gauge(name: string, help: string, value: number): Stat {
  return { name: `telemetry_outbox_${name}`, help, type: 'gauge', value };
}

function counter(name: string, help: string, value: number): Stat {
  return { name: `telemetry_outbox_${name}`, help, type: 'counter', value };
}
