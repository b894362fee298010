import type { SessionEvent } from '@sallyport/core/contract';

/**
 * How far a worker has come in its session's log, through all of its streams: each event is taken once, and in order.
 * While one cannot be taken, neither are those after it, until a new stream brings them again. Not reading on instead
 * would hold up what else a stream brings: acknowledgements of our own events, and stops.
 */
export class PlaceInLog {
  readonly #take: (event: SessionEvent) => boolean;
  #lastSeq = 0;
  #isSkipping = false;

  /** `take` gives whether it took the event. */
  constructor(take: (event: SessionEvent) => boolean) {
    this.#take = take;
  }

  /** Whether the present stream brought what was not taken. */
  get isSkipping(): boolean {
    return this.#isSkipping;
  }

  /** A new stream begins: gives after which event. */
  resume(): number {
    this.#isSkipping = false;
    return this.#lastSeq;
  }

  /** The log begins here now. */
  resync(oldestSeq: number): void {
    if (Number.isSafeInteger(oldestSeq)) this.#lastSeq = oldestSeq - 1;
  }

  /** Gives whether the event is to be acknowledged, and all before it. */
  reach(event: SessionEvent): boolean {
    if (!Number.isSafeInteger(event.seq) || event.seq <= this.#lastSeq) return false;
    // A hostile or broken peer must not end the bridge.
    const data: unknown = event.data;
    if (typeof data !== 'object' || data === null) return false;
    // A stop is heeded out of turn, and comes again in its turn.
    if (this.#isSkipping && event.type !== 'control.stop') return false;
    const isTaken = this.#take(event);
    this.#isSkipping ||= !isTaken;
    if (this.#isSkipping) return false;
    this.#lastSeq = event.seq;
    return true;
  }
}
