import { countSignals, systemClock, type Clock } from '@sallyport/core';
import { exitCodes } from './exit.ts';

/** The person's wish to stop: the first signal asks, the second one insists, the third one ends the process. */
export interface Interrupt {
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP. */
  readonly asked: AbortSignal;
  /** Aborts at the second one, and some time after SIGTERM and SIGHUP: nobody is there to insist. */
  readonly insisted: AbortSignal;
  /** Lets go of the signals. */
  release(): void;
}

/** From a program's wish, or that of a terminal that is gone: longer than what is asked to end gracefully takes. */
export const lastWordMs = 20_000;

export function watchInterrupts(clock: Clock = systemClock): Interrupt {
  const asked = new AbortController();
  const insisted = new AbortController();
  let hasHungUp = false;
  const onSignal = () => {
    if (insisted.signal.aborted) process.exit(exitCodes.interrupted);
    (asked.signal.aborted ? insisted : asked).abort();
  };
  const onLastWord = () => {
    onSignal();
    clock.after(lastWordMs, () => insisted.abort());
  };
  // The kernel says it, the shell may say it again, and so do we.
  const onHangUp = () => {
    if (hasHungUp) return;
    hasHungUp = true;
    onLastWord();
  };
  const counted = countSignals(clock, (signal) => (signal === 'SIGTERM' ? onLastWord() : onSignal()));
  const handlers = { SIGINT: counted, SIGTERM: counted, SIGHUP: onHangUp };
  for (const [signal, handler] of Object.entries(handlers)) process.on(signal, handler);
  return {
    asked: asked.signal,
    insisted: insisted.signal,
    release() {
      for (const [signal, handler] of Object.entries(handlers)) process.off(signal, handler);
    },
  };
}

/** The terminal is gone, whether the kernel says so or not. */
export function hangUp(): void {
  process.kill(process.pid, 'SIGHUP');
}
