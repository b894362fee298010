import type { Part } from '@sallyport/core';
import type { After } from './records.ts';

const pageRows = 500;

/** All of a list, read by page: no read holds the event loop up for long. */
export async function allPages<Item extends After>(
  page: (argument: { readonly after: After | undefined; readonly limit: number }) => Promise<Part<Item>>,
): Promise<Item[]> {
  const all: Item[] = [];
  for (;;) {
    const last = all.at(-1);
    const { items, isLast } = await page({
      after: last && { createdAt: last.createdAt, id: last.id },
      limit: pageRows,
    });
    all.push(...items);
    if (isLast) return all;
  }
}
