import type { Areas } from '../../src/store/embedded/acts.ts';
import { bridgeActs } from '../../src/store/embedded/bridge-acts.ts';
import { bridgeMigration } from '../../src/store/embedded/migrations/0002-bridge.ts';
import { bridgePresenceMigration } from '../../src/store/embedded/migrations/0004-bridge-presence.ts';
import { managedEnvironmentsMigration } from '../../src/store/embedded/migrations/0007-managed-environments.ts';
import { sessionLogSizesMigration } from '../../src/store/embedded/migrations/0008-session-log-sizes.ts';
import { eventAccountsMigration } from '../../src/store/embedded/migrations/0020-event-accounts.ts';

// The bridge's part of the store alone, for the writer's thread.
export const areas = { bridge: (db) => bridgeActs(db) } satisfies Areas;
export const migrations = [
  bridgeMigration,
  bridgePresenceMigration,
  managedEnvironmentsMigration,
  sessionLogSizesMigration,
  eventAccountsMigration,
];
