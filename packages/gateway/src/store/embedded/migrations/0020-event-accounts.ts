import type { Migration } from '../migrate.ts';

/** Who sent an event: what clients sent before tells nobody. By account for its export and its erasure alone. */
export const eventAccountsMigration: Migration = {
  name: 'bridge: the account of an event',
  sql: `
    ALTER TABLE session_event ADD COLUMN account_id TEXT;
    CREATE INDEX session_event_account ON session_event (account_id, session_id, seq) WHERE account_id IS NOT NULL;
  `,
};
