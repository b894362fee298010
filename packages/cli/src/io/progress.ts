import { size } from './size.ts';
import type { Terminal } from './terminal.ts';

export interface ProgressBar {
  show(progress: { readonly sent: number; readonly total: number }): void;
  /** Takes the bar away. */
  end(): void;
}

const longest = 30;

/** A bar on stderr, where that is a terminal and people read along; else nothing. */
export function progressBar(
  terminal: Terminal,
  label: string,
  isTerminal = process.stderr.isTTY && !terminal.json,
): ProgressBar {
  let shown = '';
  return {
    show({ sent, total }) {
      if (!isTerminal) return;
      const part = total === 0 ? 1 : sent / total;
      const lineOf = (bar: string, percent: number) => `${label} [${bar}] ${percent} % of ${size(total)}`;
      // A line that wraps is not written over: each change would leave it behind.
      const columns = terminal.widthOf('err') - 1;
      const width = Math.max(0, Math.min(longest, columns - lineOf('', 100).length));
      const done = Math.floor(part * width);
      const bar = `${'#'.repeat(done)}${'-'.repeat(width - done)}`;
      const line = lineOf(bar, Math.floor(part * 100)).slice(0, columns);
      if (line === shown) return;
      shown = line;
      terminal.err(`\r${line}`);
    },
    end() {
      if (shown !== '') terminal.err(`\r${' '.repeat(shown.length)}\r`);
      shown = '';
    },
  };
}
