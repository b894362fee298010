import type { Migration } from '../migrate.ts';

/**
 * The audit log. An entry stands once; `audit_view` has, for each organization whose admins may see it, what lists are
 * sorted and filtered by. Times are epoch milliseconds. The indexes at the end are for what an organization's admins list,
 * and for the export and the erasure of an account.
 */
export const auditMigration: Migration = {
  name: 'audit log; administration',
  sql: `
    CREATE TABLE audit_entry (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      at INTEGER NOT NULL,
      action TEXT NOT NULL,
      outcome TEXT NOT NULL,
      actor_type TEXT NOT NULL,
      actor_id TEXT,
      account_id TEXT,
      organization_id TEXT,
      subject TEXT,
      details TEXT NOT NULL,
      address TEXT,
      request_id TEXT
    ) STRICT;

    CREATE INDEX audit_entry_age ON audit_entry (at);
    CREATE INDEX audit_entry_actor ON audit_entry (actor_id, at);
    CREATE INDEX audit_entry_action ON audit_entry (action, at);
    CREATE INDEX audit_entry_account ON audit_entry (account_id);

    CREATE TABLE audit_view (
      organization_id TEXT NOT NULL,
      at INTEGER NOT NULL,
      id INTEGER NOT NULL REFERENCES audit_entry (id) ON DELETE CASCADE,
      action TEXT NOT NULL,
      actor_id TEXT,
      PRIMARY KEY (organization_id, at, id)
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX audit_view_actor ON audit_view (organization_id, actor_id, at);
    CREATE INDEX audit_view_action ON audit_view (organization_id, action, at);
    CREATE INDEX audit_view_entry ON audit_view (id);

    DROP INDEX api_key_organization;
    CREATE INDEX api_key_organization ON api_key (organization_id, created_at, id);
    CREATE INDEX trusted_device_organization ON trusted_device (organization_id, created_at, id);
    CREATE INDEX oauth_family_organization ON oauth_family (organization_id, created_at, id);
    CREATE INDEX oauth_family_client ON oauth_family (client_id);
    CREATE INDEX environment_account ON environment (account_id, id);
    CREATE INDEX session_account ON session (account_id, id);
    CREATE INDEX feedback_bundle_account ON feedback_bundle (account_id, id);
  `,
};
