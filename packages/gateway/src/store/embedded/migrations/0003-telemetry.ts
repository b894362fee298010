import type { Migration } from '../migrate.ts';

/**
 * Telemetry records, a row each. `received_at` is in epoch milliseconds; the sender's times are decimal nanoseconds as text,
 * because OTLP's are unsigned 64-bit integers and SQLite's are signed. `body` and `attributes` are OTLP JSON.
 */
export const telemetryMigration: Migration = {
  name: 'telemetry: records',
  sql: `
    CREATE TABLE telemetry_record (
      id INTEGER PRIMARY KEY,
      organization_id TEXT NOT NULL,
      account_id TEXT NOT NULL,
      service_name TEXT NOT NULL,
      received_at INTEGER NOT NULL,
      event_name TEXT,
      time_unix_nano TEXT NOT NULL,
      observed_time_unix_nano TEXT,
      severity_number INTEGER NOT NULL,
      severity_text TEXT NOT NULL,
      body TEXT,
      attributes TEXT NOT NULL,
      trace_id TEXT,
      span_id TEXT
    ) STRICT;

    CREATE INDEX telemetry_record_listing ON telemetry_record (organization_id, received_at, id);

    CREATE TABLE telemetry_idempotency (
      account_id TEXT NOT NULL,
      organization_id TEXT NOT NULL,
      key TEXT NOT NULL,
      fingerprint TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      PRIMARY KEY (account_id, organization_id, key)
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX telemetry_idempotency_age ON telemetry_idempotency (created_at);
  `,
};
