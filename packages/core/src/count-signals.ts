import type { Clock } from './clock.ts';

/** A process manager that signals the whole group, and a parent that passes the signal on, make two of one. */
const echoMs = 200;

/** Calls `act` for each signal with its number, 1 for the first; the same one again within 200 ms is an echo. */
export function countSignals(
  clock: Clock,
  act: (signal: NodeJS.Signals, count: number) => void,
): (signal: NodeJS.Signals) => void {
  let last: { readonly signal: NodeJS.Signals; readonly at: number } | undefined;
  let count = 0;
  return (signal) => {
    const at = clock.monotonic();
    if (last !== undefined && last.signal === signal && at - last.at < echoMs) return;
    last = { signal, at };
    act(signal, ++count);
  };
}
