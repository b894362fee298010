import type { DatabaseSync } from 'node:sqlite';
import type { BridgeActs } from '@sallyport/bridge/storage';
import { createIds, systemClock, systemRandom } from '@sallyport/core';
import type { Sync } from './acts.ts';
import { environmentActs } from './bridge-environment-acts.ts';
import { createSessionLog } from './bridge-log.ts';
import { sessionActs } from './bridge-session-acts.ts';
import { workActs } from './bridge-work-acts.ts';

/** The bridge's acts on SQLite: each loads, lets the domain judge, and saves. */
export function bridgeActs(db: DatabaseSync, ids = createIds(systemClock, systemRandom)): Sync<BridgeActs> {
  const log = createSessionLog(db, ids);
  return { ...environmentActs(db, log), ...workActs(db, log), ...sessionActs(db, log) };
}
