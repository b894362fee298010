import { printable } from './printable.ts';

/** Aligns columns for a person's eyes. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return aligned([header, ...rows]);
}

/** Names and their values, a pair a line; those without a value are left out. */
export function pairs(rows: readonly (readonly [string, string])[]): string {
  return aligned(rows.filter(([, value]) => value !== ''));
}

function aligned(rows: readonly (readonly string[])[]): string {
  const lines = rows.map((line) => line.map(printable));
  const columns = largest(lines, (line) => line.length);
  const widths = Array.from({ length: columns }, (_, column) =>
    largest(lines, (line) => line[column]?.length ?? 0),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Of any number: `Math.max` takes only so many arguments as the stack has room for. At least 0. */
export function largest<Item>(items: readonly Item[], measure: (item: Item) => number): number {
  return items.reduce((most, item) => Math.max(most, measure(item)), 0);
}
