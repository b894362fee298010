import { streamRecords } from '@sallyport/core/client';
import type { TelemetryRecord } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { connect, type Connection } from '../../connect.ts';
import { exitCodes } from '../../io/exit.ts';
import { reconnecting } from '../../io/reconnecting.ts';
import { showArrivals, type Arrivals } from './arrivals.ts';
import { filtersOf, type FilterOptions } from './filters.ts';
import { renderRecord } from './render-record.ts';

/** Shows the last records, then each as it comes, until the person has seen enough. */
export async function telemetryTail(
  context: Context,
  options: FilterOptions & { readonly last: number },
): Promise<number> {
  const query = filtersOf(options, context.clock);
  const connection = await connect(context);
  const { terminal } = context;
  const show = (record: TelemetryRecord) =>
    terminal.result({ json: record, human: terminal.json ? '' : renderRecord(record, terminal) });
  const arrivals = showArrivals(context);
  try {
    for await (const record of tailOf(context, connection, query, options.last, arrivals)) show(record);
    return exitCodes.done;
  } catch (error) {
    if (context.interrupt.asked.aborted) return exitCodes.interrupted;
    throw error;
  } finally {
    arrivals.end();
  }
}

/** A lost connection is taken up again behind the last record, for as long as it takes. */
async function* tailOf(
  context: Context,
  { client, clientOptions }: Connection,
  query: ReturnType<typeof filtersOf>,
  last: number,
  arrivals: Arrivals,
): AsyncIterable<TelemetryRecord> {
  const signal = context.interrupt.asked;
  const before = last === 0 ? [] : await client.telemetry.query({ query: { ...query, limit: last }, signal });
  yield* before.toReversed();
  let afterId = before.reduce<number | undefined>((most, { id }) => Math.max(most ?? 0, id), undefined);
  const open = () => streamRecords(clientOptions, query, { afterId, signal });
  for await (const { id, record } of reconnecting(context, signal, open)) {
    afterId = id;
    if (!record) continue;
    arrivals.count(record.record.severityNumber ?? 0);
    yield record;
  }
}
