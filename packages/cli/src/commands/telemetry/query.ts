import { pages, type Client } from '@sallyport/core/client';
import { contract, type TelemetryRecord } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { exitCodes } from '../../io/exit.ts';
import type { Output } from '../../io/terminal.ts';
import { take, type TakeOptions } from '../take.ts';
import { bars, inWords } from './bars.ts';
import { connectToRead, type FilterOptions } from './filters.ts';
import { renderRecord } from './render-record.ts';
import { countsOf, sentBy } from './sender.ts';

export type QueryOptions = FilterOptions & TakeOptions & { readonly oldest?: boolean };

/** Shows stored records; the latest come last, where a terminal is looked at. */
export async function telemetryQuery(context: Context, options: QueryOptions): Promise<Output | number> {
  const { connection, query } = await connectToRead(context, options);
  const { client, clientOptions } = connection;
  const order = options.oldest === true ? ('oldest' as const) : ('newest' as const);
  const call = { signal: context.interrupt.asked };
  async function* recordPages(limit: number) {
    for await (const { body } of pages(
      clientOptions,
      contract.telemetry.query,
      { query: { ...query, order, limit } },
      call,
    ))
      yield sentBy(body, query);
  }
  const taken = await take(context, options, recordPages);
  const records = options.oldest === true ? taken : taken.toReversed();
  if (records.length === 0) {
    const human =
      Object.keys(query).length > 0
        ? 'No records match.'
        : 'No records yet.\nWhat this machine sends: sallyport telemetry show';
    return { json: records, human };
  }
  // Whoever works alone need not be told on every line.
  const isWithAccount = new Set(records.map(({ account_id: account }) => account)).size > 1;
  const human = records.map((record) => renderRecord(record, context.terminal, { isWithAccount })).join('\n');
  const output = { json: records, human };
  if (context.terminal.json) return output;
  context.terminal.result(output);
  await showCounts(context, client, { from: earliest(records), ...query });
  return exitCodes.done;
}

/** Shows how all that match spread over the time asked for. On stderr: who counts lines on stdout counts records. */
async function showCounts(
  { terminal, interrupt }: Context,
  client: Client,
  query: Parameters<typeof countsOf>[1],
): Promise<void> {
  try {
    const stats = await countsOf(client, query, interrupt.asked);
    terminal.note(`\n${inWords(stats)}`);
    for (const line of bars(stats.buckets, terminal, 'err')) terminal.note(line);
  } catch {
    // The records are what was asked for, and they are here.
  }
}

/** When the first of these was received: the time to look at, where none was asked for. */
function earliest(records: readonly TelemetryRecord[]): string {
  return records.map(({ received_at: receivedAt }) => receivedAt).reduce((a, b) => (a < b ? a : b));
}
