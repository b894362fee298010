import type { Migration } from '../migrate.ts';

/**
 * Idempotency keys in the order in which they came: ids go up by one, so that the first and the last tell how many there may be,
 * which bounds them. Those that go are the first ones, for which there needs to be no index of their age.
 */
export const telemetryIdempotencyMigration: Migration = {
  name: 'telemetry: idempotency keys in their order',
  sql: `
    ALTER TABLE telemetry_idempotency RENAME TO telemetry_idempotency_before;

    CREATE TABLE telemetry_idempotency (
      id INTEGER PRIMARY KEY,
      account_id TEXT NOT NULL,
      organization_id TEXT NOT NULL,
      key TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      UNIQUE (account_id, organization_id, key)
    ) STRICT;

    INSERT INTO telemetry_idempotency (account_id, organization_id, key, fingerprint, created_at)
      SELECT account_id, organization_id, key, fingerprint, created_at
      FROM telemetry_idempotency_before ORDER BY created_at;

    DROP TABLE telemetry_idempotency_before;
  `,
};
