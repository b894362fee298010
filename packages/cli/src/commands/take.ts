import { ServiceError } from '@sallyport/core';
import type { Command } from 'commander';
import { Option } from 'commander';
import type { Context } from '../context.ts';
import { positiveInteger } from './option-values.ts';

/** How many items of a list a person wants to see. */
export interface TakeOptions {
  readonly limit: number;
  readonly all?: boolean;
}

/** The largest page that the service gives. */
export const largestPage = 1000;

/** Gives a list's command its `--limit` and `--all`. */
export function takeOptions(command: Command, limit = 20): Command {
  return command
    .option('--limit <number>', 'how many', positiveInteger, limit)
    .addOption(new Option('--all', 'all of them').conflicts('limit'));
}

/** The first items of a list that comes in pages; whoever does not see all of them is told. */
export async function take<Item>(
  { terminal }: Context,
  { limit, all = false }: TakeOptions,
  pagesOf: (pageSize: number) => AsyncIterable<readonly Item[]>,
): Promise<readonly Item[]> {
  const taken: Item[] = [];
  const most = all ? Infinity : limit;
  // One more than wanted tells whether there are more.
  for await (const items of pagesOf(Math.min(most + 1, largestPage))) {
    taken.push(...items);
    if (taken.length > most) break;
  }
  if (taken.length > most) {
    const shown = limit === 1 ? 'this one' : `these ${limit}`;
    terminal.note(`There are more than ${shown}: see them with --all.`);
  }
  return all ? taken : taken.slice(0, limit);
}

/** How many pages are looked through for one thing. */
const mostPages = 10;

/** What the pages of a list have, within that bound. */
export async function gather<Body, Item>(
  pages: AsyncIterable<{ readonly body: Body }>,
  itemsOf: (body: Body) => readonly Item[],
): Promise<readonly Item[]> {
  const items: Item[] = [];
  let count = 0;
  for await (const { body } of pages) {
    items.push(...itemsOf(body));
    count += 1;
    if (count === mostPages) break;
  }
  return items;
}

/** Nothing, where the service does not have such a list at all. */
export async function orNone<Item>(listing: Promise<readonly Item[]>): Promise<readonly Item[]> {
  try {
    return await listing;
  } catch (error) {
    if (error instanceof ServiceError && [404, 405, 501].includes(error.status)) return [];
    throw error;
  }
}
