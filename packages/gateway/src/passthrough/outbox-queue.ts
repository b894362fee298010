import {
  printable,
  ServiceError,
  sleep,
  fullJitter,
  type Clock,
  type Ids,
  type Log,
  type Random,
} from '@sallyport/core';
import type { Deliver, DeliveredAnswer } from './delivery.ts';
import { halve } from './outbox-halves.ts';
import type { KeptRequest, OutboxHead, OutboxStore } from './outbox-ports.ts';
import type { OutboxCounts } from './outbox-stats.ts';
import type { Turns } from './turns.ts';

/** What the queues of an outbox share. */
export interface QueueContext {
  readonly store: OutboxStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly turns: Turns;
  readonly counts: OutboxCounts;
  /** How requests go upstream now; `undefined`: they wait. */
  readonly deliver: () => Deliver | undefined;
  /** What came before has waited too long; epoch milliseconds. */
  readonly tooOld: () => number;
  /** What waits now. */
  readonly changed: (head: OutboxHead) => void;
  /** Of whose requests the last one did not get through, and why. */
  readonly failing: Map<string, Failure>;
}

export interface Failure {
  readonly reason: string;
  readonly isCredential: boolean;
}

/** The queue of one organization on its way upstream. */
export interface Queue {
  /** More has come. */
  wake(): void;
  /** Whether more has come since it was last looked for. */
  hasMore(): boolean;
  /** When it is empty, or there is no way upstream. Never rejects. */
  readonly ended: Promise<void>;
}

const laterMs = 30_000;
/** What an upstream that is told to wait may ask for at most. */
const longestWaitMs = 15 * 60_000;
const maxDeadLetterBytes = 64 * 1024 * 1024;
/** Of what an upstream says to a refusal. */
const reasonCharacters = 300;
/** Where so many single records in a row are too large, it is the upstream that is wrong, and one a minute is enough to lose. */
const tooLargeInARow = 5;
const tooLargePauseMs = 60_000;

/** Takes the requests of one organization upstream, in order, each at least once; others need not wait for it. */
export function startQueue(organizationId: string, context: QueueContext): Queue {
  const { store, clock, random, ids, log, signal, counts, failing } = context;
  /** How often something has come, and how often it had when it was looked for. */
  let [came, seen] = [0, 0];
  let tooLarge = 0;

  async function run(): Promise<void> {
    for (let attempt = 0; context.deliver() !== undefined;) {
      try {
        seen = came;
        const waitMs = await context.turns.take(() => step(attempt));
        if (waitMs === 'empty') {
          if (seen === came) return;
        } else if (waitMs === undefined) attempt = 0;
        else await sleep(clock, Math.max(waitMs, fullJitter(random, attempt++)), signal);
      } catch (error) {
        if (signal.aborted) return;
        // The store's trouble passes, too; what was taken and not noted is sent again.
        log.error({ err: error }, 'the outbox was interrupted and begins again');
        await sleep(clock, fullJitter(random, attempt++), signal);
      }
    }
  }

  /** One request: `undefined` if it has left the queue, else how long to wait before it is tried again. */
  async function step(attempt: number): Promise<number | undefined | 'empty'> {
    signal.throwIfAborted();
    const request = await oldest();
    if (request === undefined) return 'empty';
    const delivery = await context.deliver()?.(request, laterMs, signal);
    if (delivery === undefined) return 'empty';
    if (delivery.answer === undefined) {
      counts.retries++;
      const { reason, isCredential, waitMs } = delivery;
      if (failing.size === 0) log.warn({ reason, organizationId }, 'telemetry waits for its upstream');
      failing.set(organizationId, { reason, isCredential });
      // A credential is put right by a person: who asks seldom does not stand in the way of those that are let in.
      return Math.min(isCredential ? waitMs * 2 ** attempt : waitMs, longestWaitMs);
    }
    if (failing.delete(organizationId) && failing.size === 0) log.info({}, 'telemetry goes upstream again');
    return answered(request, delivery.answer);
  }

  /** The next to go, once those that are too old have gone. */
  async function oldest(): Promise<KeptRequest | undefined> {
    for (;;) {
      const next = await store.oldest({ organizationId });
      const receivedBefore = context.tooOld();
      if (next === undefined || next.receivedAt >= receivedBefore) return next;
      const expired = await store.expire({ receivedBefore });
      context.changed(expired);
      counts.dropped.age += expired.dropped;
    }
  }

  async function answered(request: KeptRequest, answer: DeliveredAnswer): Promise<number | undefined> {
    const { id } = request;
    const { status } = answer;
    if (status < 400) {
      tooLarge = 0;
      context.changed(await written(() => store.settle({ id })));
      counts.forwarded++;
      return undefined;
    }
    const halves = status === 413 && request.records > 1 ? await halve(request, ids) : undefined;
    if (halves !== undefined) {
      context.changed(await written(() => store.split({ id, halves })));
      counts.split++;
      return undefined;
    }
    const refusal = { id, status, reason: reasonOf(answer), refusedAt: clock.now() };
    const head = await written(() => store.refuse({ ...refusal, maxBytes: maxDeadLetterBytes }));
    context.changed(head);
    counts.refused.set(status, (counts.refused.get(status) ?? 0) + 1);
    counts.dropped.refused += head.dropped;
    log.warn(
      { status, path: request.path, records: request.records, organizationId },
      'the upstream refuses telemetry that was kept: it is put aside (sallyport-gateway admin telemetry dead-letters)',
    );
    tooLarge = status === 413 ? tooLarge + 1 : 0;
    return tooLarge >= tooLargeInARow ? tooLargePauseMs : undefined;
  }

  /** What was taken is not sent again because the disk is full now: it is noted as soon as it can be. */
  async function written<T>(act: () => Promise<T>): Promise<T> {
    for (let attempt = 0; ; attempt++)
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof ServiceError) || error.status !== 503) throw error;
        if (attempt === 0) log.error({ err: error }, 'what the upstream has taken cannot be noted yet');
        await sleep(clock, fullJitter(random, attempt), signal);
      }
  }

  const ended = run().catch((error: unknown) => {
    if (!signal.aborted) log.error({ err: error }, 'the outbox has ended');
  });
  return {
    wake() {
      came++;
    },
    hasMore: () => seen !== came,
    ended: ended.then(() => void failing.delete(organizationId)),
  };
}

/** The beginning of what it says, on one line; bodies of ingest endpoints do not repeat what was sent, but nobody knows. */
function reasonOf({ reason, body }: DeliveredAnswer): string {
  const said = printable(
    body
      .subarray(0, 4 * reasonCharacters)
      .toString()
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
  return (said === '' ? reason : said).slice(0, reasonCharacters).toWellFormed();
}
