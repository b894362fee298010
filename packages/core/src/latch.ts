/** Remembers that something happened until somebody waited for it. */
export interface Latch {
  set(): void;
  /** Resolves at once if it was set since the last wait, else when it is set, or when `signal` aborts. */
  wait(signal: AbortSignal): Promise<void>;
}

export function createLatch(): Latch {
  let isSet = false;
  let release: (() => void) | undefined;
  return {
    set() {
      isSet = true;
      release?.();
    },
    async wait(signal) {
      if (!isSet && !signal.aborted) {
        await new Promise<void>((resolve) => {
          release = () => resolve();
          signal.addEventListener('abort', release, { once: true });
        });
        if (release) signal.removeEventListener('abort', release);
        release = undefined;
      }
      isSet = false;
    },
  };
}
