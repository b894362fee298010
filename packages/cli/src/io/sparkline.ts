const bars = '▁▂▃▄▅▆▇█';

/** Counts as a line of bars, the highest for the largest; nothing is a blank, and one is never shown as nothing. */
export function sparkline(counts: readonly number[]): string {
  const most = Math.max(0, ...counts);
  return counts
    .map((count) => (count <= 0 ? ' ' : (bars[Math.ceil((count / most) * bars.length) - 1] ?? '')))
    .join('');
}
