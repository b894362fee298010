import type { DatabaseSync } from 'node:sqlite';
import { judgeReconnect, type Timing, type Touched } from '@sallyport/bridge/storage';
import type { SessionLog } from './bridge-log.ts';
import { isRunning, selectWork, toWork, type WorkRow } from './bridge-rows.ts';
import { select } from './query.ts';

const unattached = `environment_id = ? AND ${isRunning} AND state = 'active' AND attached = 0`;

/** Work that was acknowledged and waits for its first stream: the polls of the bridge that has it are its only signs of life. */
export interface UnattachedWork {
  renew(environmentId: string, until: number): void;
  /** A new registration knows nothing of what the one before acknowledged, and its polls must not keep that alive. */
  giveBack(given: Timing & { readonly environmentId: string }): Touched[];
}

export function unattachedWork(db: DatabaseSync, log: SessionLog): UnattachedWork {
  const all = select<WorkRow>(db, `${selectWork} WHERE ${unattached}`);
  // Another worker may have acknowledged it; only the one that is registered polls for it.
  const renewDeadline = db.prepare(
    `UPDATE work SET deadline = max(deadline, ?) WHERE ${unattached}
       AND acked_by = (SELECT worker_key FROM bridge_registration r WHERE r.environment_id = work.environment_id)`,
  );
  return {
    renew(environmentId, until) {
      renewDeadline.run(until, environmentId);
    },
    giveBack({ environmentId, ...given }) {
      return all.all(environmentId).map((row) => {
        const work = toWork(row);
        return log.settle(work, judgeReconnect(work, { seenAt: null, isProven: false }, given), given.now);
      });
    },
  };
}
