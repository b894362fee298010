const bars = '▁▂▃▄▅▆▇█';

/** Counts as a line of bars, the highest for the largest; nothing is a blank, and one is never shown as nothing. */
export function sparkline(counts: readonly number[]): string {
  const most = Math.max(0, ...counts);
  return counts
    .map((count) => (count <= 0 ? ' ' : (bars[Math.ceil((count / most) * bars.length) - 1] ?? '')))
    .join('');
}

/** As many counts as fit in `width`: neighbours become one by their sum, the last ones whole. */
export function fitting(counts: readonly number[], width: number): number[] {
  const each = Math.max(1, Math.ceil(counts.length / Math.max(1, width)));
  const fitted = new Array<number>(Math.ceil(counts.length / each)).fill(0);
  const before = fitted.length * each - counts.length;
  for (const [index, count] of counts.entries()) {
    const at = Math.floor((index + before) / each);
    fitted[at] = (fitted[at] ?? 0) + count;
  }
  return fitted;
}
