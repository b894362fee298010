import { printable } from './printable.ts';

const [between, indent] = ['  ', '  '];

/**
 * Aligns columns for a person's eyes. Those that a line of `width` has no room for go below, indented, in a line of their own:
 * a terminal would break ids in two, and what is left out or cut cannot be copied.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width = Infinity,
): string {
  return aligned([header, ...rows], width);
}

/** Names and their values, a pair a line; those without a value are left out. */
export function pairs(rows: readonly (readonly [string, string])[]): string {
  return aligned(rows.filter(([, value]) => value !== ''));
}

function aligned(rows: readonly (readonly string[])[], width = Infinity): string {
  const lines = rows.map((line) => line.map(printable));
  const columns = largest(lines, (line) => line.length);
  const widths = Array.from({ length: columns }, (_, column) =>
    largest(lines, (line) => line[column]?.length ?? 0),
  );
  const folds = folded(widths, width);
  return lines
    .flatMap((line) => {
      const [first = '', ...more] = folds.map(({ from, to }) =>
        line
          .slice(from, to)
          .map((cell, column) => cell.padEnd(widths[from + column] ?? 0))
          .join(between)
          .trimEnd(),
      );
      return [first, ...more.filter((fold) => fold !== '').map((fold) => indent + fold)];
    })
    .join('\n');
}

/** Which columns stand in one line: as many as fit, and at least one. */
function folded(widths: readonly number[], width: number): readonly { from: number; to: number }[] {
  const starts = [0];
  let taken = 0;
  widths.forEach((wide, column) => {
    const fits = taken + between.length + wide <= width;
    if (column > 0 && !fits) starts.push(column);
    taken = column === 0 ? wide : fits ? taken + between.length + wide : indent.length + wide;
  });
  return starts.map((from, fold) => ({ from, to: starts[fold + 1] ?? widths.length }));
}

/** Of any number: `Math.max` takes only so many arguments as the stack has room for. At least 0. */
export function largest<Item>(items: readonly Item[], measure: (item: Item) => number): number {
  return items.reduce((most, item) => Math.max(most, measure(item)), 0);
}
