import { fullJitter, sleep } from '@sallyport/core';
import { streamRecords } from '@sallyport/core/client';
import type { TelemetryRecord } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { connect, type Connection } from '../../connect.ts';
import { exitCodes } from '../../io/exit.ts';
import { isPassing } from '../../io/passing.ts';
import { printable } from '../../io/printable.ts';
import { showArrivals, type Arrivals } from './arrivals.ts';
import { filtersOf, type FilterOptions } from './filters.ts';
import { renderRecord } from './render-record.ts';

/** Shows the last records, then each as it comes, until the person has seen enough. */
export async function telemetryTail(
  context: Context,
  options: FilterOptions & { readonly last: number },
): Promise<number> {
  const connection = await connect(context);
  const { terminal } = context;
  const show = (record: TelemetryRecord) =>
    terminal.result({ json: record, human: terminal.json ? '' : renderRecord(record, terminal) });
  const query = filtersOf(options, context.clock);
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
  const { clock, random, terminal } = context;
  const signal = context.interrupt.asked;
  const before =
    last === 0
      ? []
      : await client.telemetry.query({ query: { ...query, limit: Math.min(last, 1000) }, signal });
  yield* before.toReversed();
  let afterId = before.reduce<number | undefined>((most, { id }) => Math.max(most ?? 0, id), undefined);
  let isLost = false;
  for (let attempt = 0; ; attempt++) {
    try {
      for await (const { id, record } of streamRecords(clientOptions, query, { afterId, signal })) {
        if (isLost) terminal.note('Connected again.');
        isLost = false;
        attempt = 0;
        afterId = id;
        if (!record) continue;
        arrivals.count(record.record.severityNumber ?? 0);
        yield record;
      }
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error;
      if (!isLost)
        terminal.note(`The connection is lost (${printable((error as Error).message)}); trying again.`);
      isLost = true;
    }
    await sleep(clock, fullJitter(random, attempt, { baseMs: 250, capMs: 10_000 }), signal);
  }
}
