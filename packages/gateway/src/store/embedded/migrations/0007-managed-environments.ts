import type { Migration } from '../migrate.ts';

/** Environments that were created through the API. Times are epoch milliseconds. */
export const managedEnvironmentsMigration: Migration = {
  name: 'environments: managed ones',
  sql: `
    ALTER TABLE environment ADD COLUMN is_managed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE environment ADD COLUMN archived_at INTEGER;
    -- The machine name as it is searched, where the environment is managed: SQLite folds the case of ASCII only.
    ALTER TABLE environment ADD COLUMN folded_name TEXT;
    ALTER TABLE environment ADD COLUMN idempotency_key TEXT;
    ALTER TABLE environment ADD COLUMN fingerprint TEXT;
    CREATE INDEX environment_managed ON environment (organization_id, created_at, id) WHERE is_managed = 1;
    CREATE UNIQUE INDEX environment_idempotency ON environment (account_id, organization_id, idempotency_key)
      WHERE idempotency_key IS NOT NULL;
  `,
};
