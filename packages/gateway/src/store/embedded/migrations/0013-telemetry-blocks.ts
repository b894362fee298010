import type { Migration } from '../migrate.ts';

/** Fewer are there within seconds. */
const notableRecords = 100_000;
/** Of a busy machine; a quiet one does several times as many (docs/performance.md). */
const recordsPerMinute = 1_000_000;

/**
 * Records are stored in blocks, a row each: a logs request as it came, or records as JSON (`form` says which; what is in
 * `content` and `summary` only the telemetry knows). A row is named by the id of its last record, so that the blocks behind
 * a record are found by one look. `content` is the last column: a read of the others does not touch its pages.
 *
 * The records of before become blocks of some hundred KiB: neighbours that came at once, of one origin. `piece` rises where
 * another one begins.
 */
export const telemetryBlocksMigration: Migration = {
  name: 'telemetry: blocks of records',
  notice(db) {
    const records = Number(db.prepare('SELECT records FROM telemetry_head').get()?.['records'] ?? 0);
    if (records < notableRecords) return undefined;
    const minutes = Math.ceil(records / recordsPerMinute);
    return (
      `The database is brought up to date: ${records.toLocaleString('en')} stored telemetry records are carried over, ` +
      `which may take ${minutes} minute${minutes === 1 ? '' : 's'} and needs free space of two and a half times the ` +
      'size of the database meanwhile. Let it run: if it is ended before, it begins anew with the next start.'
    );
  },
  sql: `
    CREATE TABLE telemetry_block (
      last_id INTEGER PRIMARY KEY,
      records INTEGER NOT NULL,
      organization_id TEXT NOT NULL,
      account_id TEXT NOT NULL,
      received_at INTEGER NOT NULL,
      skew_ms INTEGER,
      form TEXT NOT NULL,
      -- What it takes of the room for records.
      bytes INTEGER NOT NULL,
      -- NULL: nobody knows what is in it.
      summary TEXT,
      -- Of the content: zstd, or NULL.
      compression TEXT,
      content BLOB NOT NULL
    ) STRICT;

    INSERT INTO telemetry_block
      WITH piece AS (
        SELECT id, sum(begins) OVER in_order AS piece, sum(bytes) OVER in_order / 262144 AS part FROM (
          SELECT id, bytes,
            (organization_id, account_id, service_name, received_at, skew_ms, resource_id, scope_id, id)
              IS NOT (lag(organization_id) OVER by_id, lag(account_id) OVER by_id, lag(service_name) OVER by_id,
                lag(received_at) OVER by_id, lag(skew_ms) OVER by_id, lag(resource_id) OVER by_id,
                lag(scope_id) OVER by_id, lag(id) OVER by_id + 1) AS begins
          FROM telemetry_record WINDOW by_id AS (ORDER BY id)
        ) WINDOW in_order AS (ORDER BY id ROWS UNBOUNDED PRECEDING)
      )
      SELECT max(id), count(*), organization_id, account_id, received_at, skew_ms, 'groups', sum(bytes), NULL, NULL,
        CAST(json_array(json_object(
          'serviceName', service_name,
          'resource', json((SELECT content FROM telemetry_origin WHERE id = resource_id)),
          'scopes', json_array(json_object(
            'scope', json((SELECT content FROM telemetry_origin WHERE id = scope_id)),
            'records', json_group_array(json_object(
              'timeUnixNano', time_unix_nano,
              'observedTimeUnixNano', observed_time_unix_nano,
              'severityNumber', severity_number,
              'severityText', severity_text,
              'body', json(body),
              'attributes', json(attributes),
              'droppedAttributesCount', dropped_attributes_count,
              'flags', flags,
              'eventName', event_name,
              'traceId', trace_id,
              'spanId', span_id
            ) ORDER BY id)
          ))
        )) AS BLOB)
      FROM piece JOIN telemetry_record USING (id) GROUP BY piece, part;

    CREATE INDEX telemetry_block_listing ON telemetry_block (organization_id, received_at, last_id);

    DROP TABLE telemetry_record;
    DROP TABLE telemetry_origin;

    UPDATE telemetry_head SET
      records = (SELECT coalesce(sum(records), 0) FROM telemetry_block),
      bytes = (SELECT coalesce(sum(bytes), 0) FROM telemetry_block);

    CREATE TRIGGER telemetry_block_gone AFTER DELETE ON telemetry_block BEGIN
      UPDATE telemetry_head SET records = records - old.records, bytes = bytes - old.bytes;
    END;
  `,
};
