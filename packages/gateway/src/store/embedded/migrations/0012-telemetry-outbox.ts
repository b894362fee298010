import type { Migration } from '../migrate.ts';

/**
 * Requests of the telemetry area that wait for their upstream. `headers` is a flat JSON list, names and values by turns,
 * without any credential. What waits is counted by triggers, whoever deletes it.
 */
export const telemetryOutboxMigration: Migration = {
  name: 'telemetry: what waits for an upstream',
  sql: `
    CREATE TABLE telemetry_outbox (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      received_at INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      path TEXT NOT NULL,
      headers TEXT NOT NULL,
      body BLOB NOT NULL
    ) STRICT;

    CREATE TABLE telemetry_outbox_head (
      only INTEGER PRIMARY KEY CHECK (only = 1),
      requests INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    ) STRICT;
    INSERT INTO telemetry_outbox_head VALUES (1, 0, 0);

    CREATE TRIGGER telemetry_outbox_added AFTER INSERT ON telemetry_outbox BEGIN
      UPDATE telemetry_outbox_head SET requests = requests + 1, bytes = bytes + new.bytes;
    END;
    CREATE TRIGGER telemetry_outbox_gone AFTER DELETE ON telemetry_outbox BEGIN
      UPDATE telemetry_outbox_head SET requests = requests - 1, bytes = bytes - old.bytes;
    END;
  `,
};
