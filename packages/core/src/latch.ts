import type { WakeListener } from './ports.ts';

/** Remembers that something happened until somebody waited for it. */
export interface Latch extends WakeListener {
  /** Resolves at once if it was woken since the last wait, else when it is woken, or when `signal` aborts. */
  wait(signal: AbortSignal): Promise<void>;
}

export function createLatch(): Latch {
  let isAwake = false;
  let release: (() => void) | undefined;
  return {
    wake() {
      isAwake = true;
      release?.();
    },
    async wait(signal) {
      if (!isAwake && !signal.aborted) {
        await new Promise<void>((resolve) => {
          release = () => resolve();
          signal.addEventListener('abort', release, { once: true });
        });
        if (release) signal.removeEventListener('abort', release);
        release = undefined;
      }
      isAwake = false;
    },
  };
}
