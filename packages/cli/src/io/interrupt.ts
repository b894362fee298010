import { exitCodes } from './exit.ts';

/** The person's wish to stop: the first signal asks, the second one insists, the third one ends the process. */
export interface Interrupt {
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP. */
  readonly asked: AbortSignal;
  /** Aborts at the second one. */
  readonly insisted: AbortSignal;
  /** Lets go of the signals. */
  release(): void;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export function watchInterrupts(): Interrupt {
  const asked = new AbortController();
  const insisted = new AbortController();
  const onSignal = () => {
    if (insisted.signal.aborted) process.exit(exitCodes.interrupted);
    (asked.signal.aborted ? insisted : asked).abort();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    asked: asked.signal,
    insisted: insisted.signal,
    release() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
