import type { TelemetryStats } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { table } from '../../io/table.ts';
import type { Output, Terminal } from '../../io/terminal.ts';
import { bars, inWords } from './bars.ts';
import { connectToRead, type FilterOptions } from './filters.ts';
import { countsOf } from './sender.ts';

/** Counts records: a line of bars over time, then by severity and by service. */
export async function telemetryStats(
  context: Context,
  options: FilterOptions & { readonly buckets: number },
): Promise<Output> {
  const { connection, query } = await connectToRead(context, options);
  const { buckets } = options;
  const stats = await countsOf(connection.client, { ...query, buckets }, context.interrupt.asked);
  if (!stats.complete)
    context.terminal.note(
      'There are too many to count all: these are the latest. Ask for less with --since.',
    );
  return { json: stats, human: render(stats, context.terminal) };
}

function render(stats: TelemetryStats, terminal: Terminal): string {
  const { total, buckets, severities, services } = stats;
  const head = inWords(stats);
  if (total === 0) return head;
  const severityRows = severities.map(({ severity, count }) => [severity, count.toLocaleString('en')]);
  const serviceRows = services.map(({ service, count }) => [service, count.toLocaleString('en')]);
  return [
    head,
    '',
    ...bars(buckets, terminal),
    '',
    table(['SEVERITY', 'RECORDS'], severityRows),
    '',
    table(['SERVICE', 'RECORDS'], serviceRows),
  ].join('\n');
}
