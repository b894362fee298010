import type { Wakeups } from './ports.ts';

/** Wake-ups within one process. A replica's bus wraps it. */
export function createLocalWakeups(): Wakeups {
  /** Lists that are never changed: nearly all are of one, of which there are thousands, and a set is three times as large. */
  const waiting = new Map<string, readonly (() => void)[]>();
  return {
    notify(topic) {
      // Of this moment: a wake may subscribe again at once, and must then wait for the next notification.
      for (const wake of waiting.get(topic) ?? []) wake();
    },
    subscribe(topic, wake) {
      // Not spread: that would make room for sixteen more.
      waiting.set(topic, (waiting.get(topic) ?? []).concat(wake));
      return () => {
        const wakes = waiting.get(topic);
        const at = wakes?.indexOf(wake) ?? -1;
        if (wakes === undefined || at === -1) return;
        if (wakes.length === 1) waiting.delete(topic);
        else waiting.set(topic, wakes.toSpliced(at, 1));
      };
    },
  };
}
