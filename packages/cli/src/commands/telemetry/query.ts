import { pages } from '@sallyport/core/client';
import { contract } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { connect } from '../../connect.ts';
import type { Output } from '../../io/terminal.ts';
import { take, type TakeOptions } from '../take.ts';
import { filtersOf, type FilterOptions } from './filters.ts';
import { renderRecord } from './render-record.ts';

export type QueryOptions = FilterOptions & TakeOptions & { readonly oldest?: boolean };

/** Shows stored records; the latest come last, where a terminal is looked at. */
export async function telemetryQuery(context: Context, options: QueryOptions): Promise<Output> {
  const { clientOptions } = await connect(context);
  const query = filtersOf(options, context.clock);
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
  const human =
    records.length === 0
      ? 'No records match.'
      : records.map((record) => renderRecord(record, context.terminal)).join('\n');
  return { json: records, human };
}
