import { pages, streamRecords, type ClientOptions } from '@sallyport/core/client';
import { contract, type TelemetryRecord } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import type { Connection } from '../../connect.ts';
import { exitCodes } from '../../io/exit.ts';
import { reconnecting } from '../../io/reconnecting.ts';
import { largestPage } from '../take.ts';
import { showArrivals, type Arrivals } from './arrivals.ts';
import { connectToRead, type FilterOptions, type RecordsQuery } from './filters.ts';
import { renderRecord } from './render-record.ts';
import { sentBy } from './sender.ts';

/** Shows the last records, then each as it comes, until the person has seen enough. */
export async function telemetryTail(
  context: Context,
  options: FilterOptions & { readonly last: number },
): Promise<number> {
  const { connection, query } = await connectToRead(context, options);
  const { terminal } = context;
  const accounts = new Set<string>();
  const show = (record: TelemetryRecord) => {
    // Whoever works alone need not be told on every line.
    const isWithAccount = accounts.add(record.account_id).size > 1;
    terminal.result({
      json: record,
      human: terminal.json ? '' : renderRecord(record, terminal, { isWithAccount }),
    });
  };
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
  { clientOptions }: Connection,
  query: RecordsQuery,
  last: number,
  arrivals: Arrivals,
): AsyncIterable<TelemetryRecord> {
  const signal = context.interrupt.asked;
  // First: what is stored while the last ones are asked for comes behind it, though none of them may be.
  const head = last === 0 ? undefined : await headOf(clientOptions, query, signal);
  const before = last === 0 ? [] : await newest(context, clientOptions, query, last);
  yield* before.toReversed();
  // Nothing may come for long, and only on a terminal are there bars that move.
  context.terminal.note('Waiting for records; Ctrl-C ends.');
  let afterId = before.reduce((most, { id }) => Math.max(most ?? 0, id), head);
  const open = () => streamRecords(clientOptions, query, { afterId, signal });
  for await (const { id, record } of reconnecting(context, signal, open)) {
    afterId = id;
    if (!record) continue;
    sentBy([record], query);
    arrivals.count(record.record.severityNumber ?? 0);
    yield record;
  }
}

/** Where the service's records end now. */
async function headOf(
  clientOptions: ClientOptions,
  query: RecordsQuery,
  signal: AbortSignal,
): Promise<number | undefined> {
  for await (const { id } of streamRecords(clientOptions, query, { signal })) return id;
  return undefined;
}

/** The newest first. A page may be short and still have a next one. */
async function newest(
  { interrupt }: Context,
  clientOptions: ClientOptions,
  query: RecordsQuery,
  count: number,
): Promise<readonly TelemetryRecord[]> {
  const input = { query: { ...query, limit: Math.min(count, largestPage) } };
  const records: TelemetryRecord[] = [];
  for await (const { body } of pages(clientOptions, contract.telemetry.query, input, {
    signal: interrupt.asked,
  })) {
    records.push(...sentBy(body, query));
    if (records.length >= count) break;
  }
  return records.slice(0, count);
}
