import { severities, type Clock, type Timer } from '@sallyport/core';
import { fitting, sparkline } from '../../io/sparkline.ts';
import type { Terminal } from '../../io/terminal.ts';

const seconds = 60;
/** Records come in swarms: the line is put back behind the last of one. */
const settleMs = 100;
/** What the words behind the bars may take: `  12,345 in the last minute, 12,345 of them errors`. */
const wordsWidth = 52;

/** Shows in the status line how many records have come in each second of the last minute. */
export interface Arrivals {
  count(severityNumber: number): void;
  /** Takes the line away. */
  end(): void;
}

export function showArrivals({
  terminal,
  clock,
}: {
  readonly terminal: Terminal;
  readonly clock: Clock;
}): Arrivals {
  const counts = new Array<number>(seconds).fill(0);
  const errors = new Array<number>(seconds).fill(0);
  let last = secondOf(clock);
  let timer: Timer | undefined;

  /** Forgets the seconds that are over a minute old. */
  function moveOn(): number {
    const now = secondOf(clock);
    for (let second = Math.max(last + 1, now - seconds + 1); second <= now; second += 1)
      counts[second % seconds] = errors[second % seconds] = 0;
    last = now;
    return now % seconds;
  }

  function draw(): void {
    const newest = moveOn();
    const inOrder = [...counts.slice(newest + 1), ...counts.slice(0, newest + 1)];
    const failed = sum(errors);
    const errorText = failed === 0 ? '' : `, ${failed.toLocaleString('en')} of them errors`;
    const bars = sparkline(fitting(inOrder, terminal.columns - 1 - wordsWidth));
    terminal.status(`${bars}  ${sum(counts).toLocaleString('en')} in the last minute${errorText}`);
    drawIn(1000);
  }

  function drawIn(ms: number): void {
    timer?.cancel();
    timer = clock.after(ms, draw);
  }

  if (terminal.columns > 0) draw();
  return {
    count(severityNumber) {
      if (terminal.columns === 0) return;
      const index = moveOn();
      counts[index] = (counts[index] ?? 0) + 1;
      if (severityNumber >= severities.error) errors[index] = (errors[index] ?? 0) + 1;
      drawIn(settleMs);
    },
    end() {
      timer?.cancel();
      terminal.status(undefined);
    },
  };
}

function secondOf(clock: Clock): number {
  return Math.floor(clock.monotonic() / 1000);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
