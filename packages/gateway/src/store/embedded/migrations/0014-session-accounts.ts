import type { Migration } from '../migrate.ts';

/** An account's sessions by organization: a list is of one alone. Ids are ordered by time, so no other column has to be. */
export const sessionAccountsMigration: Migration = {
  name: 'bridge: sessions by account and organization',
  sql: `
    DROP INDEX session_account;
    CREATE INDEX session_account ON session (account_id, organization_id, id);
  `,
};
