import type { ServerResponse } from 'node:http';
import { isCut } from '../http/cut.ts';
import { whenEnded, type EndListener, type Ending } from '../http/ending.ts';
import { Histogram } from './histogram.ts';

/** Whose requests are counted together. Never a path or an id: there are as many as the contract has rows. */
export interface TrafficLabels {
  readonly area: string;
  /** The row's id, or the family's name. */
  readonly row: string;
  /** The origin that they go to; empty: they are served here. */
  readonly upstream: string;
}

export const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx', 'cut'] as const;

/** What has come to one row since the start. Counted in plain fields: see docs/performance.md. */
export class Meter implements EndListener {
  readonly labels: TrafficLabels;
  /** In the order of `statusClasses`. */
  readonly requests: number[] = new Array<number>(statusClasses.length).fill(0);
  inFlight = 0;
  retries = 0;
  /** Of bodies, from callers and to them; of a WebSocket, all that follows the switch. */
  receivedBytes = 0;
  sentBytes = 0;
  /** From when a request is with the upstream until the head of its answer is here. */
  readonly upstreamSeconds = new Histogram();
  /** What the gateway took to send a request on: who calls, and may they? */
  readonly gatewaySeconds = new Histogram();
  readonly departures = { request: 0, response: 0 };
  readonly checked = { request: 0, response: 0 };

  constructor(labels: TrafficLabels) {
    this.labels = labels;
  }

  /** Counts one request, from now until its answer is out or its stream has ended. */
  count(response: ServerResponse): void {
    this.inFlight++;
    whenEnded(response, this);
  }

  ended(ending: Ending): void {
    this.inFlight--;
    // RFC 9110 15: what is none of the five classes counts as the last of them.
    const at = isCut(ending)
      ? statusClasses.indexOf('cut')
      : Math.min(Math.floor(ending.statusCode / 100), 5) - 1;
    this.requests[at] = (this.requests[at] ?? 0) + 1;
  }
}

/** All that is counted by row. It outlives a reload, as counters must. */
export interface Traffic {
  meter(labels: TrafficLabels): Meter;
  readonly meters: Iterable<Meter>;
}

export function createTraffic(): Traffic {
  const meters = new Map<string, Meter>();
  return {
    meter(labels) {
      const key = `${labels.row} ${labels.upstream}`;
      const known = meters.get(key) ?? new Meter(labels);
      meters.set(key, known);
      return known;
    },
    get meters() {
      return meters.values();
    },
  };
}
