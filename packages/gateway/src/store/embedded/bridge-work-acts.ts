import type { DatabaseSync } from 'node:sqlite';
import {
  hasLeft,
  judgeAck,
  judgeDelivery,
  judgeLapse,
  judgeReturn,
  judgeStop,
  type BridgeActs,
  type Work,
} from '@sallyport/bridge/storage';
import type { Sync } from './acts.ts';
import type { SessionLog } from './bridge-log.ts';
import { isRunning, isWaiting, selectWork, toWork, type WorkRow } from './bridge-rows.ts';
import { noSuchWork } from './bridge-unknown.ts';
import { select } from './query.ts';

type WorkActs = Pick<
  BridgeActs,
  'claimWork' | 'returnWork' | 'ackWork' | 'stopWork' | 'lapseWork' | 'extendLeases'
>;

export function workActs(db: DatabaseSync, log: SessionLog): Sync<WorkActs> {
  const oldestWaiting = select<WorkRow>(
    db,
    `${selectWork} WHERE environment_id = ? AND ${isWaiting}
       AND type IN (SELECT value FROM json_each(?)) ORDER BY created_at, id LIMIT 1`,
  );
  const byId = select<WorkRow>(db, `${selectWork} WHERE id = ?`);
  const overdue = select<WorkRow>(
    db,
    `${selectWork} WHERE deadline <= ? AND deadline IS NOT NULL ORDER BY deadline LIMIT ?`,
  );
  const seen = select<{ lastSeenAt: number; leftAt: number | null }>(
    db,
    'SELECT last_seen_at AS lastSeenAt, left_at AS leftAt FROM bridge_registration WHERE environment_id = ?',
  );
  const noteStop = db.prepare('UPDATE work SET stop_at = ?, stop_forced = ? WHERE id = ?');
  // A delivery is no lease: nobody had to be able to renew it.
  const extendDeadlines = db.prepare(`UPDATE work SET deadline = ? WHERE deadline < ? AND ${isRunning}`);

  function workOf(environmentId: string, workId: string): Work {
    const work = log.work(workId);
    if (work.environmentId === environmentId) return work;
    throw noSuchWork();
  }

  return {
    claimWork({ environmentId, types, ...given }) {
      const row = oldestWaiting.get(environmentId, JSON.stringify(types));
      if (!row) return null;
      const work = toWork(row);
      const verdict = judgeDelivery(work, given);
      if (!verdict) return null;
      log.settle(work, verdict, given.now);
      const { id, type, sessionId, deliveries } = verdict.work;
      return { id, type, sessionId, delivery: deliveries };
    },

    returnWork({ workId, delivery, ...given }) {
      // Its session may have been deleted meanwhile.
      const row = byId.get(workId);
      const work = row && toWork(row);
      const verdict = work && judgeReturn(work, delivery, given);
      return verdict ? log.settle(work, verdict, given.now) : null;
    },

    ackWork({ environmentId, workId, workerKey, ...given }) {
      const work = workOf(environmentId, workId);
      return log.settle(work, judgeAck(work, workerKey, given), given.now);
    },

    stopWork({ environmentId, workId, force, reason, proof, ...given }) {
      const work = workOf(environmentId, workId);
      const isWorker = proof?.sessionId === work.sessionId && proof.epoch === log.head(work.sessionId).epoch;
      const verdict = judgeStop(work, { force, isWorker, reason }, given);
      if (verdict && !isWorker) noteStop.run(given.now, force ? 1 : 0, workId);
      return log.settle(work, verdict, given.now);
    },

    lapseWork({ onlineSince, limit, ...given }) {
      return overdue.all(given.now, limit).map((row) => {
        const work = toWork(row);
        const bridge = seen.get(work.environmentId);
        const isOnline = bridge !== undefined && bridge.lastSeenAt > onlineSince && !hasLeft(bridge);
        return log.settle(work, judgeLapse(work, isOnline, given), given.now);
      });
    },

    extendLeases({ until }) {
      extendDeadlines.run(until, until);
    },
  };
}
