import type { Wakeups } from './ports.ts';

/** Wake-ups within one process. A replica's bus wraps it. */
export function createLocalWakeups(): Wakeups {
  const waiting = new Map<string, Set<() => void>>();
  return {
    notify(topic) {
      const wakes = waiting.get(topic);
      // A copy: a wake may subscribe again at once, and must then wait for the next notification.
      if (wakes) for (const wake of [...wakes]) wake();
    },
    subscribe(topic, wake) {
      // An own function an entry, so that the same `wake` may be subscribed twice.
      const entry = () => wake();
      const wakes = waiting.get(topic) ?? new Set();
      waiting.set(topic, wakes.add(entry));
      return () => {
        wakes.delete(entry);
        if (wakes.size === 0 && waiting.get(topic) === wakes) waiting.delete(topic);
      };
    },
  };
}
