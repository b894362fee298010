import type { Migration } from '../migrate.ts';

/**
 * Who sent what waits for an upstream, or was refused by it: so that an account's can be shown, and erased. Of what is there
 * nobody knows.
 */
export const telemetryOutboxAccountsMigration: Migration = {
  name: 'telemetry: the account of what waits for an upstream',
  sql: `
    ALTER TABLE telemetry_outbox ADD COLUMN account_id TEXT NOT NULL DEFAULT '';
    CREATE INDEX telemetry_outbox_account ON telemetry_outbox (account_id, id);
    ALTER TABLE telemetry_dead_letter ADD COLUMN account_id TEXT NOT NULL DEFAULT '';
    CREATE INDEX telemetry_dead_letter_account ON telemetry_dead_letter (account_id, id);
  `,
};
