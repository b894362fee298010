import type { Migration } from '../migrate.ts';

/** API keys, and what organizations manage for their members. Times are epoch milliseconds; secrets are SHA-256. */
export const oauthKeysMigration: Migration = {
  name: 'oauth: API keys and managed settings',
  sql: `
    CREATE TABLE api_key (
      id TEXT PRIMARY KEY,
      hash TEXT NOT NULL UNIQUE,
      account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
      organization_id TEXT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
      name TEXT,
      scope TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER,
      last_used_at INTEGER,
      revoked_at INTEGER
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX api_key_account ON api_key (account_id, organization_id, created_at);
    CREATE INDEX api_key_organization ON api_key (organization_id);
    CREATE INDEX api_key_expiry ON api_key (expires_at) WHERE expires_at IS NOT NULL;

    CREATE TABLE organization_setting (
      organization_id TEXT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (organization_id, name)
    ) STRICT, WITHOUT ROWID;
  `,
};
