import type { Migration } from '../migrate.ts';

/**
 * What OTLP's logs have and the batch endpoint's events do not. An origin is a resource or a scope as OTLP JSON, once for
 * each organization, however many records are of it. Feedback: the bundle itself is a file beside the database.
 */
export const telemetryLogsMigration: Migration = {
  name: 'telemetry: OTLP logs; feedback: bundles',
  sql: `
    CREATE TABLE telemetry_origin (
      id INTEGER PRIMARY KEY,
      organization_id TEXT NOT NULL,
      digest BLOB NOT NULL,
      content TEXT NOT NULL,
      UNIQUE (organization_id, digest)
    ) STRICT;

    ALTER TABLE telemetry_record ADD COLUMN resource_id INTEGER REFERENCES telemetry_origin (id);
    ALTER TABLE telemetry_record ADD COLUMN scope_id INTEGER REFERENCES telemetry_origin (id);
    ALTER TABLE telemetry_record ADD COLUMN dropped_attributes_count INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE telemetry_record ADD COLUMN flags INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE telemetry_record ADD COLUMN skew_ms INTEGER;

    CREATE TABLE feedback_bundle (
      id TEXT PRIMARY KEY,
      organization_id TEXT NOT NULL,
      account_id TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      description TEXT NOT NULL,
      file_name TEXT NOT NULL,
      bytes INTEGER NOT NULL,
      entries INTEGER NOT NULL,
      sha256 TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX feedback_bundle_listing ON feedback_bundle (created_at, id);
  `,
};
