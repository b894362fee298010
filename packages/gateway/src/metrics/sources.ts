import type { BreakerState } from '../passthrough/breaker.ts';

/** A number that is looked up when somebody asks: what an engine counts by itself. */
export interface Stat {
  /** `telemetry_events_total`; `sallyport_` comes before it. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** What an engine tells of itself: a small bounded list, made anew at each question. Never throws. */
export type StatSource = () => readonly Stat[];

const breakerValues: Readonly<Record<BreakerState, number>> = { closed: 0, 'half-open': 1, open: 2 };

export function breakerStats(
  breakers: Iterable<{ readonly origin: string; readonly state: BreakerState }>,
): readonly Stat[] {
  return [...breakers].map(({ origin, state }) => ({
    name: 'upstream_breaker_state',
    help: '0: closed; 1: half-open, one try at a time; 2: open, nothing is sent',
    type: 'gauge',
    value: breakerValues[state],
    labels: { upstream: origin },
  }));
}
