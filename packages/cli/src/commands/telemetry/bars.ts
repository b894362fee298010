import type { TelemetryStats } from '@sallyport/core/contract';
import { fitting, sparkline } from '../../io/sparkline.ts';
import type { Terminal } from '../../io/terminal.ts';

/** How many there are, and of which time: not all were counted where they are too many. */
export function inWords({ from, to, total, complete }: TelemetryStats): string {
  const records = `${total.toLocaleString('en')} ${total === 1 ? 'record' : 'records'}`;
  return `${complete ? '' : 'at least '}${records} from ${from} to ${to}`;
}

/** Counts over time as a line of bars, and one of the errors among them where there are any; as wide as there is room. */
export function bars(
  buckets: TelemetryStats['buckets'],
  terminal: Pick<Terminal, 'style' | 'widthOf'>,
  stream: 'out' | 'err' = 'out',
): string[] {
  const width = terminal.widthOf(stream);
  const line = (all: readonly number[], says: (most: string) => string, style: (text: string) => string) => {
    const counts = fitting(all, width);
    const words = says(Math.max(...counts).toLocaleString('en'));
    const fits = counts.length + 2 + words.length <= width;
    return `${style(sparkline(counts))}${fits ? '  ' : '\n'}${words}`;
  };
  const counts = buckets.map(({ count }) => count);
  const errors = buckets.map((bucket) => bucket.errors);
  const lines = [line(counts, (most) => `at most ${most} in one`, String)];
  if (errors.some((count) => count > 0)) {
    const red = (text: string) => terminal.style('red', text, stream);
    lines.push(line(errors, (most) => `errors, at most ${most}`, red));
  }
  return lines;
}
