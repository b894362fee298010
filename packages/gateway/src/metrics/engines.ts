import type { BridgeEngine } from '@sallyport/bridge/server';
import { isFinal, workStates } from '@sallyport/bridge/storage';
import type { EnvironmentStatus, WorkState } from '@sallyport/core/contract';
import type { Exporter, TelemetryEngine } from '@sallyport/telemetry/server';
import type { WriterStats } from '../store/embedded/writer.ts';
import type { Stat, StatSource } from './sources.ts';

// What the engines and the store count, as metrics.

/** What is open, and what there is in the store: where that cannot be read, it is left out. */
export function bridgeStats(bridge: Pick<BridgeEngine, 'stats' | 'counts'>): StatSource {
  return async () => {
    const { workerStreams, hintStreams, heldPolls } = bridge.stats();
    const counts = await bridge.counts().catch(() => undefined);
    return [
      gauge('worker_streams', 'Streams of workers that are open', workerStreams),
      gauge('hint_streams', 'WebSockets of bridges that are open', hintStreams),
      gauge('held_polls', 'Polls of bridges that wait for work', heldPolls),
      ...(counts ? countStats(counts) : []),
    ];
  };
}

const liveStates = (Object.keys(workStates) as WorkState[]).filter((state) => !isFinal(state));
const environmentStatuses = [
  'online',
  'disconnected',
  'offline',
] as const satisfies readonly EnvironmentStatus[];

/** Each state and status is there also where there is none of it: what is missing raises no alarm. */
function countStats({ work, environments }: Awaited<ReturnType<BridgeEngine['counts']>>): readonly Stat[] {
  return [
    ...liveStates.map((state) => ({
      ...gauge('work_items', 'Work that has not ended, a session each, by its state', work[state] ?? 0),
      labels: { state },
    })),
    ...environmentStatuses.map((status) => ({
      ...gauge(
        'environments',
        'Environments with a bridge, by whether it is there',
        environments[status] ?? 0,
      ),
      labels: { status },
    })),
  ];
}

export function storeStats(stats: () => WriterStats): StatSource {
  return () => {
    const { acts, batches, waiting, waitingBytes, seconds } = stats();
    return [
      counter('store_acts_total', 'Acts of the store, refused ones included', acts),
      counter('store_commits_total', 'Commits of the store, one for all acts of a batch', batches),
      gauge('store_waiting_acts', 'Acts that wait for a commit', waiting),
      gauge('store_waiting_bytes', 'What the arguments of those take', waitingBytes),
      {
        name: 'store_commit_seconds',
        help: 'How long the first act of each commit took, from being asked for to its answer',
        type: 'histogram',
        value: seconds,
      },
    ];
  };
}

export function telemetryStats(
  telemetry: Pick<TelemetryEngine, 'stats'>,
  exporter: Pick<Exporter, 'stats'> | undefined,
): StatSource {
  return () => [
    ...recordStats(telemetry.stats()),
    ...(exporter === undefined ? [] : exportStats(exporter.stats())),
  ];
}

function recordStats(stats: ReturnType<TelemetryEngine['stats']>): readonly Stat[] {
  const { stored, replayed, rejected, droppedForZeroRetention, expired, expiredUnexported } = stats;
  const { mergedBlocks, damagedBlocks } = stats;
  return [
    ...byOutcome('telemetry_records_total', 'Telemetry records that came, by what became of them', {
      stored,
      replayed,
      rejected,
      zero_retention: droppedForZeroRetention,
    }),
    counter('telemetry_expired_records_total', 'Stored records that went by age or for room', expired),
    counter(
      'telemetry_expired_unexported_records_total',
      'Those of them that the export had yet to send',
      expiredUnexported,
    ),
    counter(
      'telemetry_merged_blocks_total',
      'Small blocks of records that were made one with others',
      mergedBlocks,
    ),
    counter(
      'telemetry_damaged_blocks_total',
      'Stored blocks of records that could not be read, and are passed over',
      damagedBlocks,
    ),
  ];
}

function exportStats(stats: ReturnType<Exporter['stats']>): readonly Stat[] {
  const { exported, rejected, refused, requests, retries, failing } = stats;
  return [
    ...byOutcome('telemetry_export_records_total', 'Records that were sent on, by what became of them', {
      exported,
      rejected,
      refused,
    }),
    counter('telemetry_export_requests_total', 'Requests of the export', requests),
    counter('telemetry_export_retries_total', 'Requests of the export that are made again', retries),
    gauge(
      'telemetry_export_failing',
      '1: the last request of the export failed, and the log says why',
      failing === undefined ? 0 : 1,
    ),
  ];
}

function byOutcome(name: string, help: string, counts: Readonly<Record<string, number>>): readonly Stat[] {
  return Object.entries(counts).map(([outcome, value]) => ({
    ...counter(name, help, value),
    labels: { outcome },
  }));
}

function gauge(name: string, help: string, value: number): Stat {
  return { name, help, type: 'gauge', value };
}

function counter(name: string, help: string, value: number): Stat {
  return { name, help, type: 'counter', value };
}
