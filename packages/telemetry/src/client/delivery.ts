import { AsyncLocalStorage } from 'node:async_hooks';
import { fullJitter, type Clock, type Random } from '@sallyport/core';
import type { Claim, Spool } from '../spool/spool.ts';
import type { Counters } from './counters.ts';
import type { Send } from './send.ts';
import type { Verdict } from './verdict.ts';

/** What one request takes. */
export interface BatchBounds {
  readonly maxEvents: number;
  readonly maxBytes: number;
}

export interface DeliveryOptions {
  readonly send: Send;
  readonly spool: Spool | undefined;
  readonly bounds: BatchBounds;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly random: Random;
  readonly onError: (error: unknown) => void;
}

interface Batch {
  readonly events: readonly string[];
  /** How often bad events were cut out of it. */
  readonly cuts: number;
  /** How often the service broke on it. */
  readonly failures: number;
}

const maxCuts = 5;
const maxFailures = 3;
/** How often the spool is looked at for what other processes left. */
const sweepEveryMs = 60_000;

const sending = new AsyncLocalStorage<true>();

/** Whether this code runs on behalf of a batcher's own request: what is emitted there would go round in a circle. */
export function isSending(): boolean {
  return sending.getStore() === true;
}

/** Sends batches one after the other and keeps the one that must wait: it goes again unchanged, so it is stored once. */
export class Delivery {
  readonly #options: DeliveryOptions;
  /** The batch on its way or waiting, and what was split off it; all of a segment while one is claimed. */
  #batches: Batch[] = [];
  #claim: Claim | undefined;
  #pausedUntil = 0;
  #pauses = 0;
  #nextSweep = 0;
  #isDisabled = false;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** The service takes nothing from us. */
  get isDisabled(): boolean {
    return this.#isDisabled;
  }

  /** Milliseconds for which nothing may be sent. */
  get pauseMs(): number {
    if (this.#pausedUntil === 0) return 0; // nearly always, and asked at each event
    return Math.max(0, this.#pausedUntil - this.#options.clock.monotonic());
  }

  /** Events of this process that are on their way or wait for the next attempt. */
  get unsettled(): number {
    return this.#claim ? 0 : this.#batches.reduce((sum, { events }) => sum + events.length, 0);
  }

  /** Sends what waits, then what `take` gives, then what the spool has; ends early at a pause. Never rejects. */
  async run(take: () => readonly string[], signal: AbortSignal): Promise<void> {
    while (!this.#isDisabled && !signal.aborted && this.pauseMs === 0) {
      const batch = this.#next(take);
      if (!batch) return;
      this.#claim?.renew();
      const sent = sending.run(true, () => this.#options.send(batch.events, signal));
      // Written while the service is at work on the one before.
      if (!this.#claim && this.#batches.length === 1)
        this.#batches.push(...toBatches(take(), this.#options.bounds));
      const verdict = await sent;
      if (this.#batches[0] !== batch) return; // it was released meanwhile
      this.#batches.splice(0, 1, ...this.#apply(batch, verdict));
      if (this.#batches.length === 0) this.#settleClaim([]);
    }
  }

  /** Gives away the events of this process that wait; those of a claimed segment go back to the spool. */
  release(): readonly string[] {
    const events = this.#batches.flatMap((batch) => batch.events);
    this.#batches = [];
    if (!this.#claim) return events;
    this.#settleClaim(events);
    return [];
  }

  #next(take: () => readonly string[]): Batch | undefined {
    if (this.#batches.length === 0) {
      const events = take();
      this.#batches = events.length > 0 ? toBatches(events, this.#options.bounds) : this.#claimSegment();
    }
    return this.#batches[0];
  }

  #claimSegment(): Batch[] {
    const { spool, bounds, clock, counters, onError } = this.#options;
    if (!spool || clock.monotonic() < this.#nextSweep) return [];
    try {
      for (let claim = spool.claim(); claim; claim = spool.claim()) {
        counters.drop('damaged', claim.damaged);
        this.#claim = claim;
        if (claim.events.length > 0) return toBatches(claim.events, bounds);
        this.#settleClaim([]);
      }
    } catch (error) {
      onError(error);
    }
    this.#nextSweep = clock.monotonic() + sweepEveryMs;
    return [];
  }

  #settleClaim(rest: readonly string[]): void {
    const claim = this.#claim;
    this.#claim = undefined;
    try {
      claim?.settle(rest);
    } catch (error) {
      this.#options.onError(error); // the claim grows stale, and the whole segment is sent again
    }
  }

  /** What is left of a batch after an attempt. */
  #apply(batch: Batch, verdict: Verdict): Batch[] {
    const { counters } = this.#options;
    const { events, cuts, failures } = batch;
    if (verdict.kind !== 'wait' && verdict.kind !== 'retry') this.#pauses = 0;
    switch (verdict.kind) {
      case 'sent':
        counters.sent += events.length;
        return [];
      case 'cut': {
        const rest = events.filter((_, index) => !verdict.indexes.has(index));
        counters.drop('refused', events.length - rest.length);
        if (rest.length === 0) return [];
        if (cuts + 1 < maxCuts) return [{ events: rest, cuts: cuts + 1, failures }];
        counters.drop('refused', rest.length);
        return [];
      }
      case 'split': {
        const half = Math.ceil(events.length / 2);
        if (events.length > 1) return [toBatch(events.slice(0, half)), toBatch(events.slice(half))];
        counters.drop('refused', 1);
        return [];
      }
      case 'drop':
        counters.drop('refused', events.length);
        return [];
      case 'disable':
        this.#isDisabled = true;
        for (const dropped of this.#batches) counters.drop('refused', dropped.events.length);
        this.#batches = [];
        return [];
      case 'retry':
        this.#pause();
        if (failures < maxFailures) return [{ events, cuts, failures: failures + 1 }];
        counters.drop('refused', events.length);
        return [];
      case 'wait':
        this.#pause(verdict.ms);
        return [batch];
    }
  }

  #pause(ms?: number): void {
    const { clock, random } = this.#options;
    this.#pausedUntil = clock.monotonic() + (ms ?? Math.max(1000, fullJitter(random, this.#pauses)));
    this.#pauses += 1;
  }
}

function toBatch(events: readonly string[]): Batch {
  return { events, cuts: 0, failures: 0 };
}

/** Always in the same way, so that a segment that is sent again makes the same requests. */
function toBatches(lines: readonly string[], { maxEvents, maxBytes }: BatchBounds): Batch[] {
  const batches: string[][] = [];
  const chars = lines.reduce((sum, line) => sum + line.length + 1, 0);
  // A character is at most three bytes: mostly nothing need be counted.
  if (lines.length > 0 && lines.length <= maxEvents && chars * 3 <= maxBytes) return [toBatch(lines)];
  let bytes = 0;
  for (const line of lines) {
    const size = Buffer.byteLength(line) + 1;
    const open = batches.at(-1);
    if (open && open.length < maxEvents && bytes + size <= maxBytes) {
      open.push(line);
      bytes += size;
    } else {
      batches.push([line]);
      bytes = size;
    }
  }
  return batches.map(toBatch);
}
