import type { Migration } from '../migrate.ts';

/** Who there is, who may sign in, and all that stands for a login. Times are epoch milliseconds; secrets are SHA-256. */
export const oauthMigration: Migration = {
  name: 'oauth: accounts, clients, logins, devices and keys',
  sql: `
    CREATE TABLE organization (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      type TEXT NOT NULL,
      rate_limit_tier TEXT NOT NULL,
      capabilities TEXT NOT NULL,
      zero_data_retention INTEGER NOT NULL,
      created_at INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE account (
      id TEXT PRIMARY KEY,
      email TEXT NOT NULL UNIQUE,
      password_hash TEXT,
      created_at INTEGER NOT NULL
    ) STRICT;

    CREATE INDEX account_age ON account (created_at);

    CREATE TABLE membership (
      account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
      organization_id TEXT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
      role TEXT NOT NULL,
      PRIMARY KEY (account_id, organization_id)
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX membership_organization ON membership (organization_id);

    CREATE TABLE setup_token (
      account_id TEXT PRIMARY KEY REFERENCES account (id) ON DELETE CASCADE,
      hash TEXT NOT NULL UNIQUE,
      expires_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE account_session (
      id TEXT PRIMARY KEY,
      hash TEXT NOT NULL UNIQUE,
      account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX account_session_account ON account_session (account_id);
    CREATE INDEX account_session_expiry ON account_session (expires_at);

    CREATE TABLE oauth_client (
      id TEXT PRIMARY KEY,
      name TEXT NOT NULL,
      redirect_uris TEXT NOT NULL,
      grant_types TEXT NOT NULL,
      scope TEXT NOT NULL,
      created_at INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE oauth_code (
      hash TEXT PRIMARY KEY,
      client_id TEXT NOT NULL,
      account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
      organization_id TEXT NOT NULL,
      session_id TEXT NOT NULL,
      redirect_uri TEXT NOT NULL,
      scope TEXT NOT NULL,
      challenge TEXT NOT NULL,
      expires_at INTEGER NOT NULL,
      mismatches INTEGER NOT NULL,
      used_at INTEGER,
      family_id TEXT
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX oauth_code_account ON oauth_code (account_id);
    CREATE INDEX oauth_code_expiry ON oauth_code (expires_at);

    CREATE TABLE oauth_family (
      id TEXT PRIMARY KEY,
      client_id TEXT NOT NULL,
      account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
      organization_id TEXT NOT NULL,
      scope TEXT NOT NULL,
      generation INTEGER NOT NULL,
      rotations TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      idle_expires_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      revoked_at INTEGER
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX oauth_family_account ON oauth_family (account_id);
    CREATE INDEX oauth_family_expiry ON oauth_family (expires_at);

    CREATE TABLE oauth_revoked_token (
      jti TEXT PRIMARY KEY,
      expires_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX oauth_revoked_token_expiry ON oauth_revoked_token (expires_at);

    CREATE TABLE oauth_device_grant (
      hash TEXT PRIMARY KEY,
      user_code TEXT NOT NULL,
      client_id TEXT NOT NULL,
      scope TEXT NOT NULL,
      address TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      slow_downs INTEGER NOT NULL,
      last_poll_at INTEGER,
      state TEXT NOT NULL,
      account_id TEXT REFERENCES account (id) ON DELETE CASCADE,
      organization_id TEXT
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX oauth_device_grant_user_code ON oauth_device_grant (user_code);
    CREATE INDEX oauth_device_grant_pending ON oauth_device_grant (client_id, address, expires_at) WHERE state = 'pending';
    CREATE INDEX oauth_device_grant_account ON oauth_device_grant (account_id);
    CREATE INDEX oauth_device_grant_expiry ON oauth_device_grant (expires_at);

    CREATE TABLE trusted_device (
      id TEXT PRIMARY KEY,
      hash TEXT NOT NULL UNIQUE,
      account_id TEXT NOT NULL REFERENCES account (id) ON DELETE CASCADE,
      organization_id TEXT NOT NULL,
      display_name TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      last_used_at INTEGER,
      revoked_at INTEGER
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX trusted_device_account ON trusted_device (account_id, created_at);

    CREATE TABLE oauth_key (
      kid TEXT PRIMARY KEY,
      private_jwk TEXT NOT NULL,
      signs_from INTEGER NOT NULL,
      published_until INTEGER
    ) STRICT;

    CREATE TABLE oauth_secret (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT;
  `,
};
