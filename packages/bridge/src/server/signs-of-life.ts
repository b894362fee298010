import type { Renewal } from './acts.ts';
import type { Context } from './context.ts';
import type { WorkerClaims } from './ports.ts';

/** When a worker was heard last, and how far it has taken its session's log; and what of both is still to be written. */
export class SignsOfLife {
  readonly #context: Context;
  readonly #claims: Pick<WorkerClaims, 'sessionId' | 'environmentId' | 'epoch'>;
  #at: number;
  #monotonic: number;
  #takenSeq: number;
  /** Whether anything came since the last one that was written. */
  #hasNews = false;
  #writtenMonotonic: number;
  #writtenSeq: number;

  constructor(context: Context, claims: WorkerClaims, takenSeq: number) {
    this.#context = context;
    this.#claims = claims;
    this.#at = context.clock.now();
    this.#monotonic = this.#writtenMonotonic = context.clock.monotonic();
    this.#takenSeq = this.#writtenSeq = takenSeq;
  }

  /** By the wall clock. */
  get at(): number {
    return this.#at;
  }

  get takenSeq(): number {
    return this.#takenSeq;
  }

  isSilentFor(ms: number): boolean {
    return this.#context.clock.monotonic() - this.#monotonic >= ms;
  }

  heard(): void {
    this.#hasNews = true;
    this.#at = this.#context.clock.now();
    this.#monotonic = this.#context.clock.monotonic();
    this.#context.presence.seen(this.#claims.environmentId);
  }

  took(seq: number): void {
    this.#takenSeq = Math.max(this.#takenSeq, seq);
  }

  /** What is to be written, if there is anything new: any, or only where a write is due. */
  renewal(which: 'all' | 'due'): Renewal | undefined {
    const { clock, config } = this.#context;
    const isDue =
      this.#takenSeq > this.#writtenSeq ||
      clock.monotonic() - this.#writtenMonotonic >= config.leaseWriteSeconds * 1000;
    return this.#hasNews && (isDue || which === 'all') ? this.last() : undefined;
  }

  last(): Renewal {
    this.#hasNews = false;
    this.#writtenMonotonic = this.#context.clock.monotonic();
    this.#writtenSeq = this.#takenSeq;
    const { sessionId, epoch } = this.#claims;
    return { sessionId, epoch, at: this.#at, takenSeq: this.#takenSeq };
  }
}
