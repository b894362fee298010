import type { Clock, Timer } from '@sallyport/core';
import type { Terminal } from './terminal.ts';

/** Shows in the status line how long something still holds, until `cancel`. By the wall clock: the machine may sleep meanwhile. */
export function countdown(
  { terminal, clock }: { readonly terminal: Terminal; readonly clock: Clock },
  what: string,
  expiresAt: number,
): Timer {
  let timer: Timer | undefined;
  const tick = () => {
    const left = Math.max(0, Math.ceil((expiresAt - clock.now()) / 1000));
    terminal.status(`${what} ${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`);
    timer = clock.after(1000, tick);
  };
  if (terminal.columns > 0) tick();
  return {
    cancel() {
      timer?.cancel();
      terminal.status(undefined);
    },
  };
}
