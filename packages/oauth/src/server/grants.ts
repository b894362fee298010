import type { GrantListener, Grants as GrantWatch, Wakeups } from '@sallyport/core';
import type { Context } from './context.ts';

/** Logins (families) and API keys, as what is opened with them asks for them. */
export interface Grants extends GrantWatch {
  /** Neither revoked nor at its end, and of an account that is still a member. */
  stands(grantId: string): Promise<boolean>;
}

/** Another process may revoke without a word to this one: then a watch learns of it within this time. */
const checkMs = 2000;
const idsPerRead = 500;
const topic = 'grants';

/** To be called after every act that may have ended a grant. */
export function tellRevocation({ wakeups }: { readonly wakeups: Wakeups }): void {
  wakeups.notify(topic);
}

export function createGrants({ store, clock, wakeups, log }: Context): Grants {
  const watched = new Map<string, Set<GrantListener>>();
  let isArmed = false;
  let checking: Promise<void> | undefined;
  let isStale = false;
  wakeups.subscribe(topic, { wake: check });

  function arm(): void {
    if (isArmed || watched.size === 0) return;
    isArmed = true;
    clock.after(checkMs, () => {
      isArmed = false;
      check();
      arm();
    });
  }

  /** One at a time; what comes meanwhile is looked at afterwards. */
  function check(): void {
    isStale = true;
    checking ??= look()
      .catch((error: unknown) => log.error({ err: error }, 'Open streams could not be checked.'))
      .finally(() => {
        checking = undefined;
        if (isStale) check();
      });
  }

  async function look(): Promise<void> {
    while (isStale) {
      isStale = false;
      const ids = [...watched.keys()];
      for (let from = 0; from < ids.length; from += idsPerRead) {
        const grantIds = ids.slice(from, from + idsPerRead);
        for (const id of await store.reads.endedGrants({ grantIds, now: clock.now() })) end(id);
      }
    }
  }

  function end(grantId: string): void {
    const listeners = watched.get(grantId);
    watched.delete(grantId);
    for (const listener of listeners ?? []) listener.revoked();
  }

  return {
    async stands(grantId) {
      return (await store.reads.endedGrants({ grantIds: [grantId], now: clock.now() })).length === 0;
    },
    watch(grantId, listener) {
      const listeners = watched.get(grantId) ?? new Set();
      watched.set(grantId, listeners.add(listener));
      arm();
    },
    unwatch(grantId, listener) {
      const listeners = watched.get(grantId);
      listeners?.delete(listener);
      if (listeners?.size === 0) watched.delete(grantId);
    },
  };
}
