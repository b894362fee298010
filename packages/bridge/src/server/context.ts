import type { AccountEmails, Clock, Ids, Log, Random, Wakeups } from '@sallyport/core';
import type { BridgeConfig, WorkTerms } from './config.ts';
import type { Timing, Touched } from './acts.ts';
import type { BridgeStore, TrustedDevices } from './ports.ts';
import type { Presence } from './presence.ts';
import { sessionTopic, workTopic } from './topics.ts';

/** What the parts of the engine share. */
export interface Context {
  readonly store: BridgeStore;
  readonly accounts: AccountEmails;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly wakeups: Wakeups;
  readonly config: BridgeConfig;
  readonly terms: WorkTerms;
  readonly presence: Presence;
  readonly devices: TrustedDevices;
  readonly log: Log;
}

export function timing({ clock, terms }: Context): Timing {
  return { now: clock.now(), terms };
}

/** Wakes whoever waits for what an act changed. */
export function wake({ wakeups }: Context, { sessionId, environmentId, state }: Touched): void {
  wakeups.notify(sessionTopic(sessionId));
  if (state === 'queued') wakeups.notify(workTopic(environmentId));
}
