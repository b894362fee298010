import type { Credentials, TokenStore } from './token-store.ts';

/** A store that ends with the process: for tests, and for programs that must leave nothing behind. */
export function memoryTokenStore(): TokenStore {
  const logins = new Map<string, Credentials>();
  const queues = new Map<string, Promise<unknown>>();
  return {
    load: async (key) => logins.get(key),
    probe: async () => undefined,
    save: async (key, credentials) => void logins.set(key, credentials),
    remove: async (key) => void logins.delete(key),
    withLock(key, act) {
      const turn = (queues.get(key) ?? Promise.resolve()).then(act);
      queues.set(
        key,
        turn.catch(() => undefined),
      );
      return turn;
    },
  };
}
