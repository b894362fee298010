import {
  unseenChangesMs,
  type GrantListener,
  type Grants as GrantWatch,
  type Wakeups,
} from '@sallyport/core';
import { endedBefore, type Context } from './context.ts';
import type { Role } from './records.ts';
import { permissionsOf } from './roles.ts';

/** Logins (families), API keys and trusted devices, as what is opened with them asks for them. */
export interface Grants extends GrantWatch {
  /** Neither revoked nor at its end, and of an account that is still a member, with that permission if one is named. */
  stands(grantId: string, permission?: string): Promise<boolean>;
}

const idsPerRead = 500;
const topic = 'grants';

/** To be called after every act that may have ended a grant, or made less of it. */
export function tellRevocation({ wakeups }: { readonly wakeups: Wakeups }): void {
  wakeups.notify(topic);
}

export function createGrants(context: Context): Grants {
  const { store, clock, wakeups, log } = context;
  const watched = new Map<string, Set<GrantListener>>();
  let changes = 0;
  let isArmed = false;
  let checking: Promise<void> | undefined;
  let isStale = false;
  wakeups.subscribe(topic, {
    wake() {
      changes += 1;
      check();
    },
  });

  function arm(): void {
    if (isArmed || watched.size === 0) return;
    isArmed = true;
    // Another process may revoke without a word to this one.
    clock.after(unseenChangesMs, () => {
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
        const [roles, revoked] = await Promise.all([rolesOf(grantIds), revokedOf(grantIds)]);
        for (const id of grantIds) tell(id, roles.get(id), revoked);
      }
    }
  }

  async function rolesOf(grantIds: readonly string[]): Promise<ReadonlyMap<string, Role>> {
    const now = clock.now();
    const standing = await store.reads.standingGrants({ grantIds, endedBefore: endedBefore(context), now });
    return new Map(standing.map(({ id, role }) => [id, role]));
  }

  /** Which access tokens of those who watch these grants were revoked by themselves. */
  async function revokedOf(grantIds: readonly string[]): Promise<ReadonlySet<string>> {
    const tokenIds = new Set<string>();
    for (const id of grantIds)
      for (const { tokenId } of watched.get(id) ?? []) if (tokenId !== undefined) tokenIds.add(tokenId);
    if (tokenIds.size === 0) return tokenIds;
    return new Set(await store.reads.revokedTokens({ tokenIds: [...tokenIds] }));
  }

  function tell(grantId: string, role: Role | undefined, revoked: ReadonlySet<string>): void {
    for (const listener of watched.get(grantId) ?? []) {
      const { permission, tokenId } = listener;
      if (isEnough(role, permission) && !(tokenId !== undefined && revoked.has(tokenId))) continue;
      unwatch(grantId, listener);
      listener.revoked();
    }
  }

  function unwatch(grantId: string, listener: GrantListener): void {
    const listeners = watched.get(grantId);
    listeners?.delete(listener);
    if (listeners?.size === 0) watched.delete(grantId);
  }

  return {
    async stands(grantId, permission) {
      return isEnough((await rolesOf([grantId])).get(grantId), permission);
    },
    get changes() {
      return changes;
    },
    watch(grantId, listener, since) {
      const listeners = watched.get(grantId) ?? new Set();
      watched.set(grantId, listeners.add(listener));
      arm();
      // What was told meanwhile was looked at without this one.
      if (since !== changes) check();
    },
    unwatch,
  };
}

function isEnough(role: Role | undefined, permission: string | undefined): boolean {
  return role !== undefined && (permission === undefined || permissionsOf[role].includes(permission));
}
