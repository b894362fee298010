import { linesOf, type Batch, type BatchBounds, type Packer, type Write } from './batch.ts';
import type { Counters } from './counters.ts';
import type { Encoder, QueuedEvent, Take } from './encode.ts';
import type { TelemetryEvent } from './event.ts';
import { EventQueue, type QueueLimits } from './queue.ts';
import type { Sampler } from './sample.ts';

export interface IntakeOptions {
  readonly encoder: Encoder;
  readonly sampler: Sampler | undefined;
  readonly limits: QueueLimits;
  readonly packer: Packer;
  readonly counters: Counters;
}

/** Events on their way into batches: sampled, captured, queued, and written as they leave. What is lost here is counted. */
export class Intake {
  readonly #encoder: Encoder;
  readonly #sampler: Sampler | undefined;
  readonly #queue: EventQueue<QueuedEvent>;
  readonly #packer: Packer;
  readonly #counters: Counters;

  constructor({ encoder, sampler, limits, packer, counters }: IntakeOptions) {
    this.#encoder = encoder;
    this.#sampler = sampler;
    this.#queue = new EventQueue(limits);
    this.#packer = packer;
    this.#counters = counters;
  }

  /** How many events wait. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** The place of the newest event, counted from the first one ever. */
  get lastSeq(): number {
    return this.#queue.lastSeq;
  }

  /** Queues an event; `false`: the sampler left it out. Never throws. */
  take(event: TelemetryEvent): boolean {
    if (this.#isSampledOut(event)) {
      this.#counters.sampledOut += 1;
      return false;
    }
    this.#enqueue(this.#encoder.take, event);
    return true;
  }

  /** Queues an event about each of so many kinds of losses that nobody was told of yet; `false`: there are none. */
  takeLosses(maxReasons: number): boolean {
    const lost = this.#counters.takeUnreported(maxReasons);
    const event = { name: 'telemetry.dropped', severityNumber: 13, severityText: 'warn' };
    for (const { reason, count } of lost)
      this.#enqueue(this.#encoder.takeOwn, { ...event, attributes: { reason, count } });
    return lost.length > 0;
  }

  /** Batches of the oldest events up to the place `upTo`. */
  pack({ maxEvents, maxBytes }: BatchBounds, upTo: number): Batch[] {
    return this.#packer.pack(this.#queue.take(maxEvents, maxBytes, upTo), this.#write);
  }

  /** All that wait, each one JSON text. */
  takeLines(): string[] {
    return this.#packer.pack(this.#queue.take(Infinity, Infinity), this.#write).flatMap(linesOf);
  }

  /** Drops all that wait: the service takes none. */
  refuse(): void {
    this.#counters.drop('refused', this.#queue.take(Infinity, Infinity).length);
  }

  /** Not an event that cannot be read: as it is taken, it is counted as such. */
  #isSampledOut(event: TelemetryEvent): boolean {
    if (this.#sampler === undefined) return false;
    try {
      return !this.#sampler(event);
    } catch {
      return false;
    }
  }

  #enqueue(take: Take, event: TelemetryEvent): void {
    try {
      const queued = take(event);
      if (queued) this.#counters.drop('overflow', this.#queue.push(queued));
      else this.#counters.drop('too_large', 1);
    } catch {
      this.#counters.drop('invalid', 1);
    }
  }

  /** Writes an event as it leaves the queue; where that fails it is dropped. */
  readonly #write: Write<QueuedEvent> = (queued, into) => {
    try {
      if (this.#encoder.write(queued, into)) return true;
      this.#counters.drop('too_large', 1);
    } catch {
      this.#counters.drop('invalid', 1);
    }
    return false;
  };
}
