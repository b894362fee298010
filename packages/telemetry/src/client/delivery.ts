import { AsyncLocalStorage } from 'node:async_hooks';
import { fullJitter, type Clock, type Random } from '@sallyport/core';
import type { Claim, Spool } from '../spool/spool.ts';
import { linesOf, type Batch, type Packer } from './batch.ts';
import type { Counters } from './counters.ts';
import type { Send } from './send.ts';
import type { Verdict } from './verdict.ts';

export interface DeliveryOptions {
  readonly send: Send;
  readonly spool: Spool | undefined;
  readonly packer: Packer;
  readonly counters: Counters;
  readonly clock: Clock;
  readonly random: Random;
  readonly onError: (error: unknown) => void;
}

const maxCuts = 5;
const maxFailures = 3;
/** How long a service may have it wait at most: one wrong answer must not end telemetry for good. */
const longestPauseMs = 60 * 60_000;
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
  /** Those of the claim as they were made, from the one on that is on its way. */
  #claimed: readonly Batch[] = [];
  /** Events of the claim before those. */
  #claimDone = 0;
  #pausedUntil = 0;
  /** Nobody asked for the pause: it is but a guess when to come again. */
  #isBackOff = false;
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

  /** The next attempt is made at once, where nobody asked for a pause. */
  endBackOff(): void {
    if (this.#isBackOff) this.#pausedUntil = 0;
  }

  /** Events of this process that are on their way or wait for the next attempt. */
  get unsettled(): number {
    return this.#claim ? 0 : this.#batches.reduce((sum, { ends }) => sum + ends.length, 0);
  }

  /** Sends what waits, then what `take` gives, then what the spool has; ends early at a pause. Never rejects. */
  async run(take: () => Batch[], signal: AbortSignal): Promise<void> {
    while (!this.#isDisabled && !signal.aborted && this.pauseMs === 0) {
      const batch = this.#next(take);
      if (!batch) return;
      this.#claim?.renew();
      const sent = sending.run(true, () => this.#options.send(batch, signal));
      await underWay();
      // Written while the service is at work on the one before.
      if (!this.#claim && this.#batches.length === 1) this.#batches.push(...take());
      const verdict = await sent;
      if (this.#batches[0] !== batch) return; // it was released meanwhile
      this.#batches.splice(0, 1, ...this.#apply(batch, verdict));
      if (this.#batches.length === 0) this.#settleClaim([]);
      else this.#noteProgress();
    }
  }

  /** Gives away the events of this process that wait; those of a claimed segment go back to the spool. */
  release(): readonly string[] {
    const events = this.#batches.flatMap(linesOf);
    this.#batches = [];
    if (!this.#claim) return events;
    this.#settleClaim(events);
    return [];
  }

  /** Writes events of this process to the spool, at once; what cannot be written is lost. */
  spill(events: readonly string[]): boolean {
    if (events.length === 0) return true;
    const { spool, counters, onError } = this.#options;
    try {
      if (!spool) throw new Error('there is no spool directory');
      spool.append(events);
      counters.spooled += events.length;
      counters.drop('expired', spool.takeRemoved());
      return true;
    } catch (error) {
      counters.drop('unsent', events.length);
      onError(error);
      return false;
    }
  }

  #next(take: () => Batch[]): Batch | undefined {
    if (this.#batches.length === 0) {
      this.#batches = take();
      if (this.#batches.length === 0) this.#batches = this.#claimSegment();
    }
    return this.#batches[0];
  }

  #claimSegment(): Batch[] {
    const { spool, packer, clock, counters, onError } = this.#options;
    if (!spool || clock.monotonic() < this.#nextSweep) return [];
    try {
      for (let claim = spool.claim(); claim; claim = spool.claim()) {
        counters.drop('damaged', claim.damaged);
        this.#claim = claim;
        this.#claimDone = 0;
        this.#claimed = packer.packLines(claim.events);
        if (this.#claimed.length > 0) return [...this.#claimed];
        this.#settleClaim([]);
      }
    } catch (error) {
      onError(error);
    } finally {
      counters.drop('expired', spool.takeRemoved());
    }
    this.#nextSweep = clock.monotonic() + sweepEveryMs;
    return [];
  }

  /** After a crash no more is sent again than the batch that was on its way, or what was split off it. */
  #noteProgress(): void {
    const [next] = this.#batches;
    const passed = this.#claim && next ? this.#claimed.indexOf(next) : 0;
    if (passed <= 0) return;
    this.#claimDone += this.#claimed.slice(0, passed).reduce((sum, { ends }) => sum + ends.length, 0);
    this.#claimed = this.#claimed.slice(passed);
    try {
      this.#claim?.progress(this.#claimDone);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #settleClaim(rest: readonly string[]): void {
    const claim = this.#claim;
    this.#claim = undefined;
    this.#claimed = [];
    try {
      claim?.settle(rest);
      this.#options.counters.drop('expired', this.#options.spool?.takeRemoved() ?? 0);
    } catch (error) {
      this.#options.onError(error); // the claim grows stale, and the whole segment is sent again
    }
  }

  /** What is left of a batch after an attempt. */
  #apply(batch: Batch, verdict: Verdict): Batch[] {
    const { counters, packer } = this.#options;
    const { cuts, failures } = batch;
    const size = batch.ends.length;
    if (verdict.kind !== 'wait' && verdict.kind !== 'retry') this.#pauses = 0;
    switch (verdict.kind) {
      case 'sent':
        counters.sent += size;
        packer.recycle(batch);
        return [];
      case 'cut': {
        const rest = linesOf(batch).filter((_, index) => !verdict.indexes.has(index));
        counters.drop('refused', size - rest.length);
        if (cuts + 1 < maxCuts)
          return packer.packLines(rest).map((left) => ({ ...left, cuts: cuts + 1, failures }));
        counters.drop('refused', rest.length);
        return [];
      }
      case 'split': {
        const half = Math.ceil(size / 2);
        const lines = linesOf(batch);
        if (size > 1)
          return [lines.slice(0, half), lines.slice(half)].flatMap((part) => packer.packLines(part));
        counters.drop('refused', 1);
        return [];
      }
      case 'drop':
        counters.drop('refused', size);
        return [];
      case 'disable':
        this.#isDisabled = true;
        for (const { ends } of this.#batches) counters.drop('refused', ends.length);
        this.#batches = [];
        return [];
      case 'retry':
        this.#pause();
        if (failures < maxFailures) return [{ ...batch, failures: failures + 1 }];
        counters.drop('refused', size);
        return [];
      case 'wait':
        this.#pause(verdict.ms);
        return [batch];
    }
  }

  #pause(ms?: number): void {
    const { clock, random } = this.#options;
    this.#isBackOff = ms === undefined;
    this.#pausedUntil =
      clock.monotonic() + Math.min(ms ?? Math.max(1000, fullJitter(random, this.#pauses)), longestPauseMs);
    this.#pauses += 1;
  }
}

/**
 * Resolves when a request that was just begun has left: a connection that is used again is looked at for a turn of the event
 * loop before it is written to.
 */
function underWay(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
