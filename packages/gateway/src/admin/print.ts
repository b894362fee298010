import { printableJson } from '@sallyport/core';
import { table } from '@sallyport/core/table';

export interface PrintFlags {
  readonly json?: boolean;
}

/** How a person sees a list. */
export interface Columns<T> {
  readonly header: readonly string[];
  readonly row: (item: T) => readonly string[];
  /** What to say where there is none. */
  readonly none: string;
}

/** A table at a terminal; programs get JSON, and so does who asks for it with `--json`. */
export function printList<T extends object>(
  items: readonly T[],
  { header, row, none }: Columns<T>,
  flags: PrintFlags,
): void {
  printRecord(items, (width) => (items.length === 0 ? none : table(header, items.map(row), width)), flags);
}

/** The same of one thing, in the words of `says` for lines of a width. */
export function printRecord(
  record: object,
  says: (width: number) => string,
  { json = false }: PrintFlags,
): void {
  if (json || !process.stdout.isTTY) printJson(record);
  else process.stdout.write(`${says(process.stdout.columns || Infinity)}\n`);
}

export function printJson(record: object): void {
  process.stdout.write(`${printableJson(JSON.stringify(record, null, 2))}\n`);
}
