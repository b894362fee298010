/** An event that waits to be sent: immutable text, so that nothing its reporter does later changes it. */
export interface QueuedEvent {
  /** One OTLP LogRecord in JSON, on one line. */
  readonly json: string;
  /** Of `json` in UTF-8. */
  readonly bytes: number;
  /** OTLP severity number, 0 to 24. */
  readonly severity: number;
}

export interface QueueLimits {
  readonly maxEvents: number;
  readonly maxBytes: number;
}

interface Entry {
  readonly seq: number;
  readonly event: QueuedEvent;
}

/** First in, first out, over a moving start: `shift()` of a long array would move all that is behind. */
class Lane {
  #entries: (Entry | undefined)[] = [];
  #start = 0;

  push(entry: Entry): void {
    this.#entries.push(entry);
  }

  peek(): Entry | undefined {
    return this.#entries[this.#start];
  }

  shift(): Entry | undefined {
    const entry = this.peek();
    this.#entries[this.#start++] = undefined;
    if (this.#start > 1024 || this.#start >= this.#entries.length) {
      this.#entries = this.#entries.slice(this.#start);
      this.#start = 0;
    }
    return entry;
  }
}

/**
 * The events that wait, bounded by number and bytes. It gives them in the order in which they came; when it is full the
 * oldest of the least severe goes, so that errors outlive what surrounds them.
 */
export class EventQueue {
  /** One for each of OTLP's six ranges of severity, the least severe first. */
  readonly #lanes = Array.from({ length: 6 }, () => new Lane());
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
  push(event: QueuedEvent): number {
    this.#laneOf(event).push({ seq: ++this.#lastSeq, event });
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
  take(maxEvents: number, maxBytes: number, upTo = Infinity): QueuedEvent[] {
    const taken: QueuedEvent[] = [];
    let bytes = 0;
    while (taken.length < maxEvents) {
      const lane = this.#oldestLane();
      const next = lane?.peek();
      if (!lane || !next || next.seq > upTo) break;
      bytes += next.event.bytes + 1;
      if (taken.length > 0 && bytes > maxBytes) break;
      taken.push(next.event);
      this.#shift(lane);
    }
    return taken;
  }

  #laneOf({ severity }: QueuedEvent): Lane {
    const index = Math.min(5, Math.max(0, Math.ceil(severity / 4) - 1));
    return this.#lanes[index] as Lane;
  }

  #oldestLane(): Lane | undefined {
    let oldest: Lane | undefined;
    let least = Infinity;
    for (const lane of this.#lanes) {
      const seq = lane.peek()?.seq ?? Infinity;
      if (seq < least) [oldest, least] = [lane, seq];
    }
    return oldest;
  }

  #shift(lane: Lane): void {
    const entry = lane.shift();
    if (!entry) return;
    this.#length -= 1;
    this.#bytes -= entry.event.bytes;
  }
}
