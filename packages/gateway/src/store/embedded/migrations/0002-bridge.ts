import type { Migration } from '../migrate.ts';

/** Environments, sessions, their work and their logs. Times are epoch milliseconds. */
export const bridgeMigration: Migration = {
  name: 'bridge: environments, sessions, work and events',
  sql: `
    CREATE TABLE environment (
      id TEXT PRIMARY KEY,
      organization_id TEXT NOT NULL,
      account_id TEXT NOT NULL,
      machine_name TEXT NOT NULL,
      directory TEXT NOT NULL,
      metadata TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE bridge_registration (
      environment_id TEXT PRIMARY KEY,
      device_id TEXT NOT NULL,
      worker_key TEXT NOT NULL,
      worker_type TEXT NOT NULL,
      generation INTEGER NOT NULL,
      last_seen_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX bridge_registration_device ON bridge_registration (device_id);
    CREATE INDEX environment_listing ON environment (organization_id, created_at, id);

    CREATE TABLE deleted_environment (
      id TEXT PRIMARY KEY,
      organization_id TEXT NOT NULL,
      deleted_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE session (
      id TEXT PRIMARY KEY,
      organization_id TEXT NOT NULL,
      account_id TEXT NOT NULL,
      environment_id TEXT NOT NULL,
      work_id TEXT NOT NULL,
      title TEXT NOT NULL,
      tags TEXT NOT NULL,
      context TEXT NOT NULL,
      epoch INTEGER NOT NULL DEFAULT 0,
      last_seq INTEGER NOT NULL DEFAULT 0,
      oldest_seq INTEGER NOT NULL DEFAULT 1,
      taken_seq INTEGER NOT NULL DEFAULT 0,
      idempotency_key TEXT,
      fingerprint TEXT,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX session_listing ON session (organization_id, created_at, id);
    CREATE UNIQUE INDEX session_idempotency ON session (account_id, organization_id, idempotency_key)
      WHERE idempotency_key IS NOT NULL;

    CREATE TABLE work (
      id TEXT PRIMARY KEY,
      environment_id TEXT NOT NULL,
      session_id TEXT NOT NULL UNIQUE,
      type TEXT NOT NULL,
      state TEXT NOT NULL,
      deadline INTEGER,
      deliveries INTEGER NOT NULL DEFAULT 0,
      attempt INTEGER NOT NULL DEFAULT 1,
      acked_by TEXT,
      attached INTEGER NOT NULL DEFAULT 0,
      reason TEXT,
      created_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX work_waiting ON work (environment_id, created_at, id) WHERE state IN ('queued', 'lost');
    CREATE INDEX work_environment ON work (environment_id, state);
    CREATE INDEX work_deadline ON work (deadline) WHERE deadline IS NOT NULL;

    CREATE TABLE session_event (
      session_id TEXT NOT NULL,
      seq INTEGER NOT NULL,
      id TEXT NOT NULL,
      type TEXT NOT NULL,
      origin TEXT NOT NULL,
      data TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      PRIMARY KEY (session_id, seq),
      UNIQUE (session_id, id)
    ) STRICT, WITHOUT ROWID;
  `,
};
