// A copy takes as long as the store is large, and cannot be interrupted: the thread that hears of signals is another one.
import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { CopyData } from './copy.ts';
import { checkSoundness } from './soundness.ts';
import { openingError, sqliteCode, SQLITE_FULL } from './store-error.ts';
import { toThrown, type Thrown } from './thrown.ts';

const { path, copy } = workerData as CopyData;
parentPort?.postMessage(copied());

function copied(): Thrown | undefined {
  try {
    // SQLite writes into an empty file, and would make one that others may read.
    closeSync(openSync(copy, 'wx', 0o600));
    using(path, (db) => db.prepare('VACUUM INTO ?').run(copy));
    using(copy, (db) => checkSoundness(db, copy, 'whole'));
    return undefined;
  } catch (error) {
    return toThrown(error);
  }
}

function using(file: string, act: (db: DatabaseSync) => void): void {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { readOnly: true });
    act(db);
  } catch (error) {
    // In the words of the system, as those who copy files have it.
    if (sqliteCode(error) === SQLITE_FULL) throw Object.assign(error as Error, { code: 'ENOSPC' });
    throw openingError(file, error);
  } finally {
    db?.close();
  }
}
