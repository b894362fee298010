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
  const columns = Math.max(0, ...lines.map((line) => line.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
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
