/** Why an event was not sent. */
export type DropReason =
  /** The queue was full. */
  | 'overflow'
  /** Larger than an event may be, even cut down. */
  | 'too_large'
  /** One of its accessors threw. */
  | 'invalid'
  /** Emitted after the shutdown. */
  | 'closed'
  /** The service does not take it, or takes nothing from here. */
  | 'refused'
  /** It could neither be sent nor written to the disk. */
  | 'unsent'
  /** It waited in the spool, and grew too old or had to make room for newer ones. */
  | 'expired'
  /** Its line in the spool was damaged. */
  | 'damaged';

/** What became of the events of this process. */
export interface TelemetryStats {
  /** In memory, those on their way included. */
  readonly waiting: number;
  readonly sent: number;
  readonly spooled: number;
  /** Left out on purpose, as the sampling says. */
  readonly sampledOut: number;
  readonly dropped: Readonly<Partial<Record<DropReason, number>>>;
}

/** What became of the events since a flush or shutdown was asked for. */
export interface FlushReport {
  readonly sent: number;
  readonly spooled: number;
  readonly dropped: number;
  /** Kept for later: the service asked for a pause, or cannot be reached, or nobody is signed in. */
  readonly waiting: number;
}

export class Counters {
  sent = 0;
  spooled = 0;
  sampledOut = 0;
  readonly #dropped = new Map<DropReason, number>();
  readonly #unreported = new Map<DropReason, number>();
  readonly #onDrop: ((reason: DropReason, count: number) => void) | undefined;

  constructor(onDrop?: (reason: DropReason, count: number) => void) {
    this.#onDrop = onDrop;
  }

  drop(reason: DropReason, count: number): void {
    if (count === 0) return;
    this.#dropped.set(reason, (this.#dropped.get(reason) ?? 0) + count);
    this.#unreported.set(reason, (this.#unreported.get(reason) ?? 0) + count);
    try {
      this.#onDrop?.(reason, count);
    } catch {
      // The hook's own trouble must not reach whoever emits.
    }
  }

  /** Drops that no event has told of yet, of so many reasons at most. */
  takeUnreported(maxReasons: number): { readonly reason: DropReason; readonly count: number }[] {
    const taken = [...this.#unreported].slice(0, maxReasons);
    for (const [reason] of taken) this.#unreported.delete(reason);
    return taken.map(([reason, count]) => ({ reason, count }));
  }

  get hasUnreported(): boolean {
    return this.#unreported.size > 0;
  }

  get dropped(): Partial<Record<DropReason, number>> {
    return Object.fromEntries(this.#dropped);
  }
}

/** What became of the events between two looks at the statistics. */
export function flushReport(before: TelemetryStats, now: TelemetryStats): FlushReport {
  return {
    sent: now.sent - before.sent,
    spooled: now.spooled - before.spooled,
    dropped: total(now.dropped) - total(before.dropped),
    waiting: now.waiting,
  };
}

function total(dropped: TelemetryStats['dropped']): number {
  return Object.values(dropped).reduce((sum, count) => sum + count, 0);
}
