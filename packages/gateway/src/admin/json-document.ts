import { once } from 'node:events';
import { printableJson } from '@sallyport/core';

/**
 * Prints one JSON object whose sections are arrays, a line for each item, as they are read: as slowly as whoever reads
 * standard output, so that nothing piles up.
 */
export async function printDocument(
  head: Readonly<Record<string, unknown>>,
  sections: Readonly<Record<string, AsyncIterable<object>>>,
): Promise<void> {
  const members = Object.entries(head).map(([name, value]) => `${quoted(name)}: ${JSON.stringify(value)}`);
  await print(`{\n  ${members.join(',\n  ')}`);
  for (const [name, items] of Object.entries(sections)) {
    await print(`,\n  ${quoted(name)}: `);
    await printItems(items, '  ');
  }
  await print('\n}\n');
}

/** Prints one JSON array in the same way. */
export async function printList(items: AsyncIterable<object>): Promise<void> {
  await printItems(items, '');
  await print('\n');
}

async function printItems(items: AsyncIterable<object>, indent: string): Promise<void> {
  let isFirst = true;
  for await (const item of items) {
    await print(`${isFirst ? '[' : ','}\n${indent}  ${JSON.stringify(item)}`);
    isFirst = false;
  }
  await print(isFirst ? '[]' : `\n${indent}]`);
}

async function print(text: string): Promise<void> {
  if (!process.stdout.write(printableJson(text))) await once(process.stdout, 'drain');
}

function quoted(name: string): string {
  return JSON.stringify(name);
}
