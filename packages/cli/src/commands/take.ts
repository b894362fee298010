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
