import type { Clock } from '@sallyport/core';
import type { EnvironmentStatus } from '@sallyport/core/contract';
import type { BridgeConfig } from './config.ts';
import type { BridgeActs } from './acts.ts';
import type { Seen } from './records.ts';

/** Whether the environment's bridge said that it stops, and nothing came after that. */
export function hasLeft({ lastSeenAt, leftAt }: Seen): boolean {
  return leftAt !== null && leftAt >= lastSeenAt;
}

/** Derived on each read, never stored. */
function presenceOf(seen: Seen, now: number, config: BridgeConfig): EnvironmentStatus {
  if (hasLeft(seen)) return 'offline';
  const silentMs = now - seen.lastSeenAt;
  if (silentMs < config.onlineSeconds * 1000) return 'online';
  return silentMs < config.offlineSeconds * 1000 ? 'disconnected' : 'offline';
}

/** When each environment was seen last. Kept here and written together now and then: a poll costs no write. */
export interface Presence {
  seen(environmentId: string): void;
  /** The newer of what is known here and what is stored. */
  lastSeen(environmentId: string, stored: number): number;
  status(environmentId: string, stored: Seen): EnvironmentStatus;
  /** Writes what is new, all of it or what is due. */
  write(which: 'all' | 'due'): Promise<void>;
  forget(environmentId: string): void;
}

export function createPresence(acts: BridgeActs, clock: Clock, config: BridgeConfig): Presence {
  const unwritten = new Map<string, number>();
  const writing = new Map<string, number>();
  let writtenAt = clock.monotonic();

  const lastSeen = (environmentId: string, stored: number) =>
    Math.max(stored, unwritten.get(environmentId) ?? 0, writing.get(environmentId) ?? 0);

  return {
    lastSeen,
    seen: (environmentId) => void unwritten.set(environmentId, clock.now()),
    status: (environmentId, stored) =>
      presenceOf({ ...stored, lastSeenAt: lastSeen(environmentId, stored.lastSeenAt) }, clock.now(), config),
    async write(which) {
      const isDue = clock.monotonic() - writtenAt >= config.presenceWriteSeconds * 1000;
      if (unwritten.size === 0 || (which === 'due' && !isDue)) return;
      writtenAt = clock.monotonic();
      const seen = [...unwritten].map(([environmentId, at]) => ({ environmentId, at }));
      for (const { environmentId, at } of seen) writing.set(environmentId, at);
      unwritten.clear();
      try {
        await acts.touchEnvironments({ seen, firstAttachMs: config.firstAttachSeconds * 1000 });
      } finally {
        for (const { environmentId, at } of seen)
          if (writing.get(environmentId) === at) writing.delete(environmentId);
      }
    },
    forget(environmentId) {
      unwritten.delete(environmentId);
      writing.delete(environmentId);
    },
  };
}
