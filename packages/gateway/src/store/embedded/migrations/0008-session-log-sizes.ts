import type { Migration } from '../migrate.ts';

/** How many bytes of event data sessions and organizations have in their logs; which work is live. */
export const sessionLogSizesMigration: Migration = {
  name: 'bridge: sizes of session logs',
  sql: `
    ALTER TABLE session ADD COLUMN log_bytes INTEGER NOT NULL DEFAULT 0;
    UPDATE session SET log_bytes =
      (SELECT coalesce(sum(octet_length(data)), 0) FROM session_event WHERE session_id = session.id);
    CREATE TABLE session_usage (
      organization_id TEXT PRIMARY KEY,
      log_bytes INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    INSERT INTO session_usage SELECT organization_id, sum(log_bytes) FROM session GROUP BY organization_id;
    CREATE INDEX work_live ON work (session_id) WHERE state NOT IN ('done', 'failed', 'stopped', 'dead');
  `,
};
