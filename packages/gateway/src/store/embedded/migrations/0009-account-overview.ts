import type { Migration } from '../migrate.ts';

/** What a person is shown of their sessions and logins: where each began, and when it was last used. */
export const accountOverviewMigration: Migration = {
  name: 'oauth: where sessions and logins began',
  sql: `
    ALTER TABLE account_session ADD COLUMN address TEXT;
    ALTER TABLE account_session ADD COLUMN user_agent TEXT;
    ALTER TABLE account_session ADD COLUMN last_used_at INTEGER;
    ALTER TABLE oauth_family ADD COLUMN address TEXT;

    DROP INDEX account_session_account;
    CREATE INDEX account_session_account ON account_session (account_id, created_at);
    DROP INDEX oauth_family_account;
    CREATE INDEX oauth_family_account ON oauth_family (account_id, created_at);
  `,
};
