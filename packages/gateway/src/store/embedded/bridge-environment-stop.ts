import type { DatabaseSync } from 'node:sqlite';
import { judgeStop, type Timing, type Touched } from '@sallyport/bridge/storage';
import type { SessionLog } from './bridge-log.ts';
import { isIdle, isRunning, selectWork, toWork, type WorkRow } from './bridge-rows.ts';
import { select } from './query.ts';

/** Stops all work of an environment that has not ended. */
export type StopAll = (given: Timing & { readonly environmentId: string }, force: boolean) => Touched[];

export function environmentStop(db: DatabaseSync, log: SessionLog): StopAll {
  const openWork = select<WorkRow>(
    db,
    `${selectWork} WHERE environment_id = ?1 AND ${isIdle}
     UNION ALL ${selectWork} WHERE environment_id = ?1 AND ${isRunning}`,
  );
  const noteStop = db.prepare('UPDATE work SET stop_at = ?, stop_forced = ? WHERE id = ?');
  return ({ environmentId, ...given }, force) =>
    openWork.all(environmentId).map((row) => {
      const work = toWork(row);
      const verdict = judgeStop(work, { force, isWorker: false }, given);
      if (verdict) noteStop.run(given.now, force ? 1 : 0, work.id);
      return log.settle(work, verdict, given.now);
    });
}
