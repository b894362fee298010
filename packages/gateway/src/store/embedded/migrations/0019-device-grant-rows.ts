import type { Migration } from '../migrate.ts';

/**
 * Device grants are kept in the order in which they come, and are in few indexes: by their random hashes each was on pages of its
 * own, in the table and in every index. They expire in nearly the same order, and only those that are decided are somebody's.
 */
export const deviceGrantRowsMigration: Migration = {
  name: 'oauth: device grants in the order in which they come',
  sql: `
    CREATE TABLE device_grant_row (
      id INTEGER PRIMARY KEY,
      hash TEXT NOT NULL,
      user_code TEXT NOT NULL,
      client_id TEXT NOT NULL,
      scope TEXT NOT NULL,
      address TEXT NOT NULL,
      network TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      slow_downs INTEGER NOT NULL,
      last_poll_at INTEGER,
      state TEXT NOT NULL,
      account_id TEXT REFERENCES account (id) ON DELETE CASCADE,
      organization_id TEXT
    ) STRICT;

    INSERT INTO device_grant_row (hash, user_code, client_id, scope, address, network, created_at, expires_at, slow_downs,
        last_poll_at, state, account_id, organization_id)
      SELECT hash, user_code, client_id, scope, address, network, created_at, expires_at, slow_downs,
        last_poll_at, state, account_id, organization_id FROM oauth_device_grant ORDER BY expires_at;

    DROP TABLE oauth_device_grant;
    ALTER TABLE device_grant_row RENAME TO oauth_device_grant;

    CREATE UNIQUE INDEX oauth_device_grant_hash ON oauth_device_grant (hash);
    CREATE INDEX oauth_device_grant_user_code ON oauth_device_grant (user_code);
    CREATE INDEX oauth_device_grant_pending ON oauth_device_grant (network, client_id, expires_at) WHERE state = 'pending';
    CREATE INDEX oauth_device_grant_account ON oauth_device_grant (account_id) WHERE account_id IS NOT NULL;
    CREATE INDEX oauth_device_grant_expiry ON oauth_device_grant (expires_at);
  `,
};
