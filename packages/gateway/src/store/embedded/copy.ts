import { closeSync, existsSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { checkSoundness } from './soundness.ts';
import { openingError, sqliteCode, SQLITE_FULL, StoreError } from './store-error.ts';

/**
 * Writes a copy of the store at `path`, of one moment, into a new file; gateways write on meanwhile. Throws a `StoreError`
 * where there is no sound store to copy. Nothing is on the disk for sure: SQLite does not sync what it copies into.
 *
 * `VACUUM INTO`, not SQLite's backup: that begins anew whenever another connection writes, and takes deleted rows along.
 */
export function copyStore(path: string, copy: string): void {
  if (!existsSync(path))
    throw new StoreError(
      'cannot_open',
      `There is no store ${path}: name the directory that it is in with --data-dir.`,
    );
  // SQLite writes into an empty file, and would make one that others may read.
  closeSync(openSync(copy, 'wx', 0o600));
  using(path, (db) => db.prepare('VACUUM INTO ?').run(copy));
  using(copy, (db) => checkSoundness(db, copy, 'whole'));
}

function using(path: string, act: (db: DatabaseSync) => void): void {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true });
    act(db);
  } catch (error) {
    // In the words of the system, as those who copy files have it.
    if (sqliteCode(error) === SQLITE_FULL) throw Object.assign(error as Error, { code: 'ENOSPC' });
    throw openingError(path, error);
  } finally {
    db?.close();
  }
}
