import type { Areas } from './acts.ts';
import { bridgeActs } from './bridge-acts.ts';
import { withBridgeAudit } from './bridge-audit.ts';
import { feedbackActs } from './feedback-acts.ts';
import type { Migration } from './migrate.ts';
import { oauthMigration } from './migrations/0001-oauth.ts';
import { bridgeMigration } from './migrations/0002-bridge.ts';
import { telemetryMigration } from './migrations/0003-telemetry.ts';
import { bridgePresenceMigration } from './migrations/0004-bridge-presence.ts';
import { oauthKeysMigration } from './migrations/0005-oauth-keys-and-settings.ts';
import { telemetryLogsMigration } from './migrations/0006-telemetry-logs.ts';
import { managedEnvironmentsMigration } from './migrations/0007-managed-environments.ts';
import { sessionLogSizesMigration } from './migrations/0008-session-log-sizes.ts';
import { accountOverviewMigration } from './migrations/0009-account-overview.ts';
import { auditMigration } from './migrations/0010-audit.ts';
import { telemetryReadingMigration } from './migrations/0011-telemetry-reading.ts';
import { telemetryOutboxMigration } from './migrations/0012-telemetry-outbox.ts';
import { telemetryBlocksMigration } from './migrations/0013-telemetry-blocks.ts';
import { sessionAccountsMigration } from './migrations/0014-session-accounts.ts';
import { telemetryOutboxQueuesMigration } from './migrations/0015-telemetry-outbox-queues.ts';
import { deviceGrantNetworkMigration } from './migrations/0016-device-grant-network.ts';
import { telemetryOutboxAccountsMigration } from './migrations/0017-telemetry-outbox-accounts.ts';
import { openWorkMigration } from './migrations/0018-open-work.ts';
import { deviceGrantRowsMigration } from './migrations/0019-device-grant-rows.ts';
import { eventAccountsMigration } from './migrations/0020-event-accounts.ts';
import { accountUnlocksMigration } from './migrations/0021-account-unlocks.ts';
import { telemetryIdempotencyMigration } from './migrations/0022-telemetry-idempotency.ts';
import { oauthActs } from './oauth-acts.ts';
import { outboxActs } from './outbox-acts.ts';
import { telemetryActs } from './telemetry-acts.ts';

/** Every domain's acts, by area. An entry here is all that it takes to have them run in the writer. */
export const areas = {
  oauth: oauthActs,
  bridge: (db) => withBridgeAudit(db, bridgeActs(db)),
  telemetry: telemetryActs,
  feedback: feedbackActs,
  outbox: outboxActs,
} satisfies Areas;

/** In the order in which they are applied, for ever: append; never edit, reorder or remove. */
export const migrations: readonly Migration[] = [
  oauthMigration,
  bridgeMigration,
  telemetryMigration,
  bridgePresenceMigration,
  oauthKeysMigration,
  telemetryLogsMigration,
  managedEnvironmentsMigration,
  sessionLogSizesMigration,
  accountOverviewMigration,
  auditMigration,
  telemetryReadingMigration,
  telemetryOutboxMigration,
  telemetryBlocksMigration,
  sessionAccountsMigration,
  telemetryOutboxQueuesMigration,
  deviceGrantNetworkMigration,
  telemetryOutboxAccountsMigration,
  openWorkMigration,
  deviceGrantRowsMigration,
  eventAccountsMigration,
  accountUnlocksMigration,
  telemetryIdempotencyMigration,
];
