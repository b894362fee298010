import type { DatabaseSync } from 'node:sqlite';
import type { FeedbackActs } from '@sallyport/telemetry/storage';
import type { Sync } from './acts.ts';

/** The feedback's acts on SQLite. */
export function feedbackActs(db: DatabaseSync): Sync<FeedbackActs> {
  const insert = db.prepare('INSERT INTO feedback_bundle VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const remove = db.prepare('DELETE FROM feedback_bundle WHERE id = ?');
  return {
    recordBundle(bundle) {
      const { id, organizationId, accountId, createdAt, description, fileName, bytes, entries, sha256 } =
        bundle;
      insert.run(id, organizationId, accountId, createdAt, description, fileName, bytes, entries, sha256);
    },
    deleteBundle({ id }) {
      remove.run(id);
    },
  };
}
