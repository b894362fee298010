import type { Stat } from '../metrics/sources.ts';
import type { OutboxHead } from './outbox-ports.ts';

/** What the outbox counts of requests, since the start. */
export interface OutboxCounts {
  kept: number;
  forwarded: number;
  retries: number;
  split: number;
  /** Made dead letters, by the upstream's status. */
  readonly refused: Map<number, number>;
  /** By reason; `refused`: dead letters that nobody looked into; `zero_retention`: of organizations that keep no data, never kept. */
  readonly dropped: { overflow: number; age: number; refused: number; zero_retention: number };
}

export function createOutboxCounts(): OutboxCounts {
  return {
    kept: 0,
    forwarded: 0,
    retries: 0,
    split: 0,
    refused: new Map(),
    dropped: { overflow: 0, age: 0, refused: 0, zero_retention: 0 },
  };
}

export function outboxStats(head: OutboxHead, counts: OutboxCounts, now: number): readonly Stat[] {
  const { deadLetters, oldestAt } = head;
  const age = oldestAt === null ? 0 : Math.max(0, (now - oldestAt) / 1000);
  return [
    gauge('requests', 'requests that wait for the upstream', head.requests),
    gauge('records', 'the records in them', head.records),
    gauge('bytes', 'what they take on disk', head.bytes),
    gauge('oldest_age_seconds', 'how long the oldest of them has waited', age),
    counter('kept_total', 'requests that were accepted to be sent later', counts.kept),
    counter('forwarded_total', 'kept requests that the upstream has taken', counts.forwarded),
    counter('retries_total', 'deliveries of kept requests that failed and are made again', counts.retries),
    counter('split_total', 'kept requests that were too large for the upstream, and halved', counts.split),
    gauge('dead_letters', 'requests that the upstream refuses for good, put aside', deadLetters.requests),
    gauge('dead_letter_records', 'the records in them', deadLetters.records),
    gauge('dead_letter_bytes', 'what they take on disk', deadLetters.bytes),
    ...[...counts.refused].map(([status, value]) => ({
      ...counter('refused_total', 'kept requests that the upstream refused for good', value),
      labels: { status: String(status) },
    })),
    ...Object.entries(counts.dropped).map(([reason, value]) => ({
      ...counter('dropped_total', 'requests that are gone without having been taken', value),
      labels: { reason },
    })),
  ];
}

function gauge(name: string, help: string, value: number): Stat {
  return { name: `telemetry_outbox_${name}`, help, type: 'gauge', value };
}

function counter(name: string, help: string, value: number): Stat {
  return { name: `telemetry_outbox_${name}`, help, type: 'counter', value };
}
