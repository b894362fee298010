import type { WakeListener, Wakeups } from './ports.ts';

/** What another process did to the same store without a wake-up here (an operator's command) is looked for this often, in ms. */
export const unseenChangesMs = 2000;

/** Wake-ups within one process. A replica's bus wraps it. */
export function createLocalWakeups(): Wakeups {
  /** Lists that are never changed: nearly all are of one, of which there are thousands, and a set is three times as large. */
  const waiting = new Map<string, readonly WakeListener[]>();
  return {
    notify(topic) {
      // Of this moment: a wake may subscribe again at once, and must then wait for the next notification.
      for (const listener of waiting.get(topic) ?? []) listener.wake();
    },
    subscribe(topic, listener) {
      // Not spread: that would make room for sixteen more.
      waiting.set(topic, (waiting.get(topic) ?? []).concat(listener));
    },
    unsubscribe(topic, listener) {
      const listeners = waiting.get(topic);
      const at = listeners?.indexOf(listener) ?? -1;
      if (listeners === undefined || at === -1) return;
      if (listeners.length === 1) waiting.delete(topic);
      else waiting.set(topic, listeners.toSpliced(at, 1));
    },
  };
}
