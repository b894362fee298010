import { fullJitter, sleep } from '@sallyport/core';
import type { Context } from '../context.ts';
import { isPassing } from './passing.ts';
import { printable } from './printable.ts';

/**
 * What `open` gives, connection after connection, for as long as it takes: each one goes on behind the last thing that its
 * caller took. The person is told once that a connection is lost, and once that there is one again. Ends with `signal`, and
 * throws what no waiting cures.
 */
export async function* reconnecting<T>(
  { clock, random, terminal }: Pick<Context, 'clock' | 'random' | 'terminal'>,
  signal: AbortSignal,
  open: () => AsyncIterable<T>,
): AsyncIterable<T> {
  let isLost = false;
  for (let attempt = 0; ; attempt += 1) {
    try {
      for await (const item of open()) {
        if (isLost) terminal.note('Connected again.');
        isLost = false;
        attempt = 0;
        yield item;
      }
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error;
      if (!isLost)
        terminal.note(`The connection is lost (${printable((error as Error).message)}); trying again.`);
      isLost = true;
    }
    await sleep(clock, fullJitter(random, attempt, { baseMs: 250, capMs: 10_000 }), signal);
  }
}
