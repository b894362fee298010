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
export function presenceOf(seen: Seen, now: number, config: BridgeConfig): EnvironmentStatus {
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
  /** Writes what is new, all of it or what is due; a failure loses nothing of it. */
  write(which: 'all' | 'due'): Promise<void>;
  forget(environmentId: string): void;
}

export function createPresence(acts: BridgeActs, clock: Clock, config: BridgeConfig): Presence {
  /** What is not stored yet, that which is on its way included. */
  const unwritten = new Map<string, number>();
  let writtenAt = clock.monotonic();
  let lastWrite: Promise<void> = Promise.resolve();

  const lastSeen = (environmentId: string, stored: number) =>
    Math.max(stored, unwritten.get(environmentId) ?? 0);

  async function store(): Promise<void> {
    if (unwritten.size === 0) return;
    writtenAt = clock.monotonic();
    const seen = [...unwritten].map(([environmentId, at]) => ({ environmentId, at }));
    await acts.touchEnvironments({ seen, firstAttachMs: config.firstAttachSeconds * 1000 });
    for (const { environmentId, at } of seen)
      if (unwritten.get(environmentId) === at) unwritten.delete(environmentId);
  }

  return {
    lastSeen,
    seen: (environmentId) => void unwritten.set(environmentId, clock.now()),
    status: (environmentId, stored) =>
      presenceOf({ ...stored, lastSeenAt: lastSeen(environmentId, stored.lastSeenAt) }, clock.now(), config),
    write(which) {
      const isDue = clock.monotonic() - writtenAt >= config.presenceWriteSeconds * 1000;
      if (which === 'due' && !isDue) return Promise.resolve();
      // One after the other: who wants all of it stored waits for what is on its way, too.
      const write = lastWrite.then(store);
      lastWrite = write.catch(() => undefined);
      return write;
    },
    forget: (environmentId) => void unwritten.delete(environmentId),
  };
}
