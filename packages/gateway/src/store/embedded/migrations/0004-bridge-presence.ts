import type { Migration } from '../migrate.ts';

/** When a bridge said that it stops, which worker stream of a session is open, and when work was stopped. Times are epoch milliseconds. */
export const bridgePresenceMigration: Migration = {
  name: 'bridge: environments that were left, open worker streams, stops',
  sql: `
    ALTER TABLE bridge_registration ADD COLUMN left_at INTEGER;
    ALTER TABLE session ADD COLUMN stream INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE session ADD COLUMN worker_seen_at INTEGER;
    ALTER TABLE work ADD COLUMN stop_at INTEGER;
    ALTER TABLE work ADD COLUMN stop_forced INTEGER;
    CREATE INDEX work_stop ON work (environment_id, stop_at, id) WHERE stop_at IS NOT NULL;
  `,
};
