import type { DatabaseSync } from 'node:sqlite';
import type { BridgeActs } from '@sallyport/bridge/storage';
import { createIds, systemClock, systemRandom } from '@sallyport/core';
import type { Sync } from './acts.ts';
import { environmentActs } from './bridge-environment-acts.ts';
import { environmentStop } from './bridge-environment-stop.ts';
import { logRemoval } from './bridge-log-removal.ts';
import { createSessionLog } from './bridge-log.ts';
import { managedActs } from './bridge-managed-acts.ts';
import { sessionActs } from './bridge-session-acts.ts';
import { unattachedWork } from './bridge-unattached.ts';
import { workActs } from './bridge-work-acts.ts';

/** The bridge's acts on SQLite: each loads, lets the domain judge, and saves. */
export function bridgeActs(db: DatabaseSync, ids = createIds(systemClock, systemRandom)): Sync<BridgeActs> {
  const log = createSessionLog(db, ids);
  const { trim, ...removal } = logRemoval(db, log);
  const stopAll = environmentStop(db, log);
  return {
    ...environmentActs(db, stopAll, unattachedWork(db, log)),
    ...managedActs(db, stopAll),
    ...workActs(db, log),
    ...sessionActs(db, log, { trim }),
    ...removal,
  };
}
