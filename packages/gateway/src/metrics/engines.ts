import type { BridgeEngine } from '@sallyport/bridge/server';
import type { Exporter, TelemetryEngine } from '@sallyport/telemetry/server';
import type { Stat, StatSource } from './sources.ts';

/** What the engines count, as metrics. */
export function engineStats(
  bridge: Pick<BridgeEngine, 'stats'>,
  telemetry: Pick<TelemetryEngine, 'stats'>,
  exporter: Pick<Exporter, 'stats'> | undefined,
): StatSource {
  return () => [
    ...bridgeStats(bridge.stats()),
    ...telemetryStats(telemetry.stats()),
    ...(exporter === undefined ? [] : exportStats(exporter.stats())),
  ];
}

function bridgeStats({ workerStreams }: ReturnType<BridgeEngine['stats']>): readonly Stat[] {
  return [
    {
      name: 'worker_streams',
      help: 'Streams of workers that are open',
      type: 'gauge',
      value: workerStreams,
    },
  ];
}

function telemetryStats(stats: ReturnType<TelemetryEngine['stats']>): readonly Stat[] {
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
    {
      name: 'telemetry_export_failing',
      help: '1: the last request of the export failed, and the log says why',
      type: 'gauge',
      value: failing === undefined ? 0 : 1,
    },
  ];
}

function byOutcome(name: string, help: string, counts: Readonly<Record<string, number>>): readonly Stat[] {
  return Object.entries(counts).map(([outcome, value]) => ({
    ...counter(name, help, value),
    labels: { outcome },
  }));
}

function counter(name: string, help: string, value: number): Stat {
  return { name, help, type: 'counter', value };
}
