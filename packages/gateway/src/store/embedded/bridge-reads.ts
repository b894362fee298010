import type { BridgeReads } from '@sallyport/bridge/storage';
import type { EnvironmentStatus, WorkState } from '@sallyport/core/contract';
import { environmentReads } from './bridge-environment-reads.ts';
import { isIdle, isRunning } from './bridge-rows.ts';
import { sessionReads } from './bridge-session-reads.ts';
import type { Reader } from './reader.ts';

/** The bridge's bounded reads on SQLite. */
export function bridgeReads(reader: Reader): BridgeReads {
  return { ...environmentReads(reader), ...sessionReads(reader), ...countReads(reader) };
}

function countReads(reader: Reader): Pick<BridgeReads, 'counts'> {
  // By the indexes of those alone: a store has far more work that has ended.
  const liveWork = reader.query<{ state: WorkState; count: number }>(
    `SELECT state, count(*) AS count FROM work WHERE ${isIdle} GROUP BY state
     UNION ALL SELECT state, count(*) FROM work WHERE ${isRunning} GROUP BY state`,
  );
  const environmentsSeen = reader.query<{ status: EnvironmentStatus; count: number }>(
    `SELECT CASE WHEN left_at >= last_seen_at THEN 'offline' WHEN last_seen_at > ? THEN 'online'
                 WHEN last_seen_at > ? THEN 'disconnected' ELSE 'offline' END AS status, count(*) AS count
     FROM bridge_registration WHERE last_seen_at > ? GROUP BY status`,
  );
  return {
    counts({ onlineSince, disconnectedSince, listedSince }) {
      const seen = environmentsSeen.all(onlineSince, disconnectedSince, listedSince);
      return Promise.resolve({
        work: Object.fromEntries(liveWork.all().map(({ state, count }) => [state, count])),
        environments: Object.fromEntries(seen.map(({ status, count }) => [status, count])),
      });
    },
  };
}
