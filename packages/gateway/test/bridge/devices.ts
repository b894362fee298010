import type { TrustedDevices } from '@sallyport/bridge/server';
import { deviceRevoked, type GrantListener } from '@sallyport/core';

/** Devices whose token is their id: all are trusted but those that the test revokes. */
export function someDevices() {
  const revoked = new Set(['revoked']);
  const watched = new Map<string, Set<GrantListener>>();
  let changes = 0;

  function tell(deviceId: string): void {
    for (const listener of watched.get(deviceId) ?? []) {
      watched.get(deviceId)?.delete(listener);
      listener.revoked();
    }
  }

  const port: TrustedDevices = {
    get changes() {
      return changes;
    },
    check: async (deviceId) => {
      if (revoked.has(deviceId)) throw deviceRevoked();
      return { deviceId };
    },
    stands: async (deviceId) => !revoked.has(deviceId),
    watch(deviceId, listener, since) {
      watched.set(deviceId, (watched.get(deviceId) ?? new Set()).add(listener));
      if (since !== changes && revoked.has(deviceId)) queueMicrotask(() => tell(deviceId));
    },
    unwatch: (deviceId, listener) => void watched.get(deviceId)?.delete(listener),
  };
  return {
    port,
    revoke(deviceId: string) {
      revoked.add(deviceId);
      changes += 1;
      tell(deviceId);
    },
    /** How many listen. */
    watches: () => [...watched.values()].reduce((sum, { size }) => sum + size, 0),
  };
}
