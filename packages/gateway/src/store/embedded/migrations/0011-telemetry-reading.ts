import type { Migration } from '../migrate.ts';

/**
 * What reading, retention and export need. `telemetry_head` has one row: ids are never given out twice, even when the
 * newest records go, because followers and the export go by them. What records take is counted as they come and, by a
 * trigger, as they go, whoever deletes them. An origin is free once the last record that used it is gone.
 */
export const telemetryReadingMigration: Migration = {
  name: 'telemetry: reading, retention, export',
  sql: `
    CREATE TABLE telemetry_head (
      only INTEGER PRIMARY KEY CHECK (only = 1),
      last_id INTEGER NOT NULL,
      records INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      -- NULL: there is no export, and never was.
      exported_to INTEGER
    ) STRICT;

    ALTER TABLE telemetry_record ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    UPDATE telemetry_record SET bytes = 200 + octet_length(attributes) + coalesce(octet_length(body), 0);
    INSERT INTO telemetry_head (only, last_id, records, bytes)
      SELECT 1, coalesce(max(id), 0), count(*), coalesce(sum(bytes), 0) FROM telemetry_record;

    CREATE TRIGGER telemetry_record_gone AFTER DELETE ON telemetry_record BEGIN
      UPDATE telemetry_head SET records = records - 1, bytes = bytes - old.bytes;
    END;

    ALTER TABLE telemetry_origin ADD COLUMN last_record_id INTEGER NOT NULL DEFAULT 0;
    UPDATE telemetry_origin SET last_record_id = (SELECT last_id FROM telemetry_head);
    CREATE INDEX telemetry_origin_free ON telemetry_origin (last_record_id);
  `,
};
