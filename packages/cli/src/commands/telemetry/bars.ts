import type { TelemetryStats } from '@sallyport/core/contract';
import { sparkline } from '../../io/sparkline.ts';
import type { Terminal } from '../../io/terminal.ts';

/** Counts over time as a line of bars, and one of the errors among them where there are any. */
export function bars(
  buckets: TelemetryStats['buckets'],
  terminal: Pick<Terminal, 'style'>,
  stream: 'out' | 'err' = 'out',
): string[] {
  const counts = buckets.map(({ count }) => count);
  const errors = buckets.map((bucket) => bucket.errors);
  const lines = [`${sparkline(counts)}  at most ${most(counts)} in one`];
  if (errors.some((count) => count > 0))
    lines.push(`${terminal.style('red', sparkline(errors), stream)}  errors, at most ${most(errors)}`);
  return lines;
}

function most(counts: readonly number[]): string {
  return Math.max(...counts).toLocaleString('en');
}
