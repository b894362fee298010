import type { Migration } from '../migrate.ts';

/** How often an account was unlocked. What counts wrong passwords counts them by it, too: the ones before count no more. */
export const accountUnlocksMigration: Migration = {
  name: 'oauth: unlocking an account',
  sql: `
    ALTER TABLE account ADD COLUMN unlocks INTEGER NOT NULL DEFAULT 0;
  `,
};
