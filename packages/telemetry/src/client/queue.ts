/** An event that waits to be sent. Nothing that its reporter does later changes it. */
export interface Queueable {
  /** What it takes in memory and on the wire, about. */
  readonly bytes: number;
  /** OTLP severity number, 0 to 24. */
  readonly severity: number;
}

export interface QueueLimits {
  readonly maxEvents: number;
  readonly maxBytes: number;
}

/** First in, first out, over a moving start: `shift()` of a long array would move all that is behind. */
class Lane<E> {
  #events: (E | undefined)[] = [];
  #seqs: number[] = [];
  #start = 0;

  /** The place of the oldest event; `Infinity`: there is none. */
  get seq(): number {
    return this.#seqs[this.#start] ?? Infinity;
  }

  push(event: E, seq: number): void {
    this.#events.push(event);
    this.#seqs.push(seq);
  }

  peek(): E | undefined {
    return this.#events[this.#start];
  }

  shift(): void {
    this.#events[this.#start++] = undefined;
    // Half of it at a time: what is behind is moved once on average, however long it is.
    if (
      this.#start * 2 > this.#events.length &&
      (this.#start > 1024 || this.#start === this.#events.length)
    ) {
      this.#events = this.#events.slice(this.#start);
      this.#seqs = this.#seqs.slice(this.#start);
      this.#start = 0;
    }
  }
}

/**
 * The events that wait, bounded by number and bytes. It gives them in the order in which they came; when it is full the
 * oldest of the least severe goes, so that errors outlive what surrounds them.
 */
export class EventQueue<E extends Queueable> {
  /** One for each of OTLP's six ranges of severity, the least severe first. */
  readonly #lanes = Array.from({ length: 6 }, () => new Lane<E>());
  readonly #limits: QueueLimits;
  #lastSeq = 0;
  #length = 0;
  #bytes = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The place of the newest event, counted from the first one ever. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Adds an event; returns how many had to go for it, itself perhaps among them. */
  push(event: E): number {
    this.#laneOf(event).push(event, ++this.#lastSeq);
    this.#length += 1;
    this.#bytes += event.bytes;
    let evicted = 0;
    while (this.#length > this.#limits.maxEvents || this.#bytes > this.#limits.maxBytes) {
      const lane = this.#lanes.find((candidate) => candidate.peek());
      if (!lane) break;
      this.#shift(lane);
      evicted += 1;
    }
    return evicted;
  }

  /** Takes the oldest events up to the place `upTo`: at most so many, and so many bytes, but at least one. */
  take(maxEvents: number, maxBytes: number, upTo = Infinity): E[] {
    const taken: E[] = [];
    let bytes = 0;
    while (taken.length < maxEvents) {
      const lane = this.#oldestLane();
      const next = lane?.peek();
      if (!lane || !next || lane.seq > upTo) break;
      bytes += next.bytes + 1;
      if (taken.length > 0 && bytes > maxBytes) break;
      taken.push(next);
      this.#shift(lane);
    }
    return taken;
  }

  #laneOf({ severity }: E): Lane<E> {
    const index = Math.min(5, Math.max(0, Math.ceil(severity / 4) - 1));
    return this.#lanes[index] as Lane<E>;
  }

  #oldestLane(): Lane<E> | undefined {
    let oldest: Lane<E> | undefined;
    let least = Infinity;
    for (const lane of this.#lanes) {
      const { seq } = lane;
      if (seq >= least) continue;
      oldest = lane;
      least = seq;
    }
    return oldest;
  }

  #shift(lane: Lane<E>): void {
    const event = lane.peek();
    if (!event) return;
    lane.shift();
    this.#length -= 1;
    this.#bytes -= event.bytes;
  }
}
