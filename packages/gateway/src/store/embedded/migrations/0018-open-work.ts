import type { Migration } from '../migrate.ts';

/**
 * An environment's work is asked for while it is open: what has ended is in no index by environment any more. What runs is in
 * one of its own, so that an item changes its place only as it begins.
 */
export const openWorkMigration: Migration = {
  name: 'bridge: open work by environment',
  sql: `
    DROP INDEX work_environment;
    DROP INDEX work_waiting;
    DROP INDEX work_live;
    CREATE INDEX work_idle ON work (environment_id, created_at, id) WHERE state IN ('queued', 'delivered', 'lost');
    CREATE INDEX work_running ON work (environment_id) WHERE state IN ('active', 'stopping');
  `,
};
