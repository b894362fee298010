import type { Migration } from '../migrate.ts';

/**
 * What waits for an upstream is in a queue for each organization, and counted by it. The order within one is that of
 * (`came`, `part`): a request that was too large is halved, and its halves ('0', '1', then '00', ...) stand where it stood.
 * What the upstream refuses for good becomes a dead letter. `body` is the last column: a read of the others does not touch
 * its pages. Of what waited before, nobody has counted the records, nor knows the organization.
 */
export const telemetryOutboxQueuesMigration: Migration = {
  name: 'telemetry: a queue for each organization, and dead letters',
  sql: `
    ALTER TABLE telemetry_outbox RENAME TO telemetry_outbox_before;
    DROP TABLE telemetry_outbox_head;

    CREATE TABLE telemetry_outbox (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      organization_id TEXT NOT NULL,
      came INTEGER NOT NULL,
      part TEXT NOT NULL,
      received_at INTEGER NOT NULL,
      records INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      path TEXT NOT NULL,
      headers TEXT NOT NULL,
      body BLOB NOT NULL
    ) STRICT;
    INSERT INTO telemetry_outbox
      SELECT id, '', id, '', received_at, 1, bytes, path, headers, body FROM telemetry_outbox_before;
    DROP TABLE telemetry_outbox_before;
    CREATE UNIQUE INDEX telemetry_outbox_order ON telemetry_outbox (organization_id, came, part);
    CREATE INDEX telemetry_outbox_age ON telemetry_outbox (received_at);

    CREATE TABLE telemetry_outbox_queue (
      organization_id TEXT PRIMARY KEY,
      requests INTEGER NOT NULL,
      records INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO telemetry_outbox_queue
      SELECT organization_id, count(*), sum(records), sum(bytes) FROM telemetry_outbox GROUP BY organization_id;

    CREATE TABLE telemetry_outbox_head (
      only INTEGER PRIMARY KEY CHECK (only = 1),
      requests INTEGER NOT NULL,
      records INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      dead_letters INTEGER NOT NULL,
      dead_records INTEGER NOT NULL,
      dead_bytes INTEGER NOT NULL
    ) STRICT;
    INSERT INTO telemetry_outbox_head
      SELECT 1, count(*), coalesce(sum(records), 0), coalesce(sum(bytes), 0), 0, 0, 0 FROM telemetry_outbox;

    CREATE TRIGGER telemetry_outbox_added AFTER INSERT ON telemetry_outbox BEGIN
      UPDATE telemetry_outbox_head
        SET requests = requests + 1, records = records + new.records, bytes = bytes + new.bytes;
      INSERT INTO telemetry_outbox_queue VALUES (new.organization_id, 1, new.records, new.bytes)
        ON CONFLICT DO UPDATE
        SET requests = requests + 1, records = records + new.records, bytes = bytes + new.bytes;
    END;
    CREATE TRIGGER telemetry_outbox_gone AFTER DELETE ON telemetry_outbox BEGIN
      UPDATE telemetry_outbox_head
        SET requests = requests - 1, records = records - old.records, bytes = bytes - old.bytes;
      UPDATE telemetry_outbox_queue
        SET requests = requests - 1, records = records - old.records, bytes = bytes - old.bytes
        WHERE organization_id = old.organization_id;
      DELETE FROM telemetry_outbox_queue WHERE organization_id = old.organization_id AND requests = 0;
    END;

    CREATE TABLE telemetry_dead_letter (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      organization_id TEXT NOT NULL,
      received_at INTEGER NOT NULL,
      refused_at INTEGER NOT NULL,
      status INTEGER NOT NULL,
      reason TEXT NOT NULL,
      records INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      path TEXT NOT NULL,
      headers TEXT NOT NULL,
      body BLOB NOT NULL
    ) STRICT;
    CREATE TRIGGER telemetry_dead_letter_added AFTER INSERT ON telemetry_dead_letter BEGIN
      UPDATE telemetry_outbox_head SET dead_letters = dead_letters + 1,
        dead_records = dead_records + new.records, dead_bytes = dead_bytes + new.bytes;
    END;
    CREATE TRIGGER telemetry_dead_letter_gone AFTER DELETE ON telemetry_dead_letter BEGIN
      UPDATE telemetry_outbox_head SET dead_letters = dead_letters - 1,
        dead_records = dead_records - old.records, dead_bytes = dead_bytes - old.bytes;
    END;
  `,
};
