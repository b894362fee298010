import { pages, type Client } from '@sallyport/core/client';
import { contract, type InputFor, type TelemetryRecord } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { connect } from '../../connect.ts';
import { exitCodes } from '../../io/exit.ts';
import type { Output } from '../../io/terminal.ts';
import { take, type TakeOptions } from '../take.ts';
import { bars } from './bars.ts';
import { filtersOf, type FilterOptions } from './filters.ts';
import { renderRecord } from './render-record.ts';

export type QueryOptions = FilterOptions & TakeOptions & { readonly oldest?: boolean };

/** Shows stored records; the latest come last, where a terminal is looked at. */
export async function telemetryQuery(context: Context, options: QueryOptions): Promise<Output | number> {
  const query = filtersOf(options, context.clock);
  const { client, clientOptions } = await connect(context);
  const order = options.oldest === true ? ('oldest' as const) : ('newest' as const);
  const call = { signal: context.interrupt.asked };
  async function* recordPages(limit: number) {
    for await (const { body } of pages(
      clientOptions,
      contract.telemetry.query,
      { query: { ...query, order, limit } },
      call,
    ))
      yield body;
  }
  const taken = await take(context, options, recordPages);
  const records = options.oldest === true ? taken : taken.toReversed();
  if (records.length === 0) return { json: records, human: 'No records match.' };
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
  query: NonNullable<InputFor<typeof contract.telemetry.stats>['query']>,
): Promise<void> {
  try {
    const { total, from, to, buckets } = await client.telemetry.stats({ query, signal: interrupt.asked });
    terminal.note(
      `\n${total.toLocaleString('en')} ${total === 1 ? 'record' : 'records'} from ${from} to ${to}`,
    );
    for (const line of bars(buckets, terminal, 'err')) terminal.note(line);
  } catch {
    // The records are what was asked for, and they are here.
  }
}

/** When the first of these was received: the time to look at, where none was asked for. */
function earliest(records: readonly TelemetryRecord[]): string {
  return records.map(({ received_at: receivedAt }) => receivedAt).reduce((a, b) => (a < b ? a : b));
}
