import type { BreakerState } from '../passthrough/breaker.ts';
import type { Histogram } from './histogram.ts';

/** A number that is looked up when somebody asks: what an engine counts by itself. */
export interface Stat {
  /** `telemetry_events_total`; `sallyport_` comes before it. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** The same of what takes time. */
export interface Timing extends Omit<Stat, 'type' | 'value'> {
  readonly type: 'histogram';
  readonly value: Histogram;
}

/** What an engine tells of itself: a small bounded list, made anew at each question. Never throws, nor rejects. */
export type StatSource = () => readonly (Stat | Timing)[] | Promise<readonly (Stat | Timing)[]>;

const breakerValues: Readonly<Record<BreakerState, number>> = { closed: 0, 'half-open': 1, open: 2 };

export function breakerStats(
  breakers: readonly {
    readonly origin: string;
    readonly state: BreakerState;
    readonly changes: Readonly<Record<BreakerState, number>>;
  }[],
): readonly Stat[] {
  const states = breakers.map(({ origin, state }): Stat => ({
    name: 'upstream_breaker_state',
    help: '0: closed; 1: half-open, one try at a time; 2: open, nothing is sent',
    type: 'gauge',
    value: breakerValues[state],
    labels: { upstream: origin },
  }));
  const changes = breakers.flatMap((breaker) =>
    Object.entries(breaker.changes).map(([to, value]): Stat => ({
      name: 'upstream_breaker_changes_total',
      help: 'How often the breaker became that',
      type: 'counter',
      value,
      labels: { upstream: breaker.origin, to },
    })),
  );
  return [...states, ...changes];
}
