import { closeSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeStoreDirectory } from './directory.ts';
import { applicationId } from './migrate.ts';
import { openingError, StoreError } from './store-error.ts';

/** How long a writer waits for another process's transaction (an admin command's, or the gateway's). */
const busyTimeoutMs = 5000;

/**
 * Opens, or creates, the store's file for writing: WAL, every commit synced to the disk. Only the owner may read it.
 * Throws a `StoreError` and leaves the file as it is when it is not ours.
 */
export function openDatabase(path: string): DatabaseSync {
  createPrivate(path);
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { timeout: busyTimeoutMs });
    refuseForeign(db, path);
    const mode = db.prepare('PRAGMA journal_mode = WAL').get();
    if (mode?.['journal_mode'] !== 'wal')
      throw new StoreError(
        'cannot_open',
        `${path} is on a file system without shared memory, which a write-ahead log needs.`,
      );
    // 64 MiB of pages kept: event bodies of 16 KiB are appended half again as fast as with SQLite's 2 MiB (docs/store.md).
    // A WAL that a long read let grow is cut back to 64 MiB at the next checkpoint.
    db.exec('PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA journal_size_limit = 67108864;');
    return db;
  } catch (error) {
    db?.close();
    throw openingError(path, error);
  }
}

function createPrivate(path: string): void {
  makeStoreDirectory(dirname(path));
  try {
    // SQLite gives the WAL the mode of the file. `x`: an existing file is not even opened, because closing any
    // descriptor of it would drop this process's locks (POSIX advisory locks).
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw new StoreError('cannot_open', `${path} cannot be created: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

function refuseForeign(db: DatabaseSync, path: string): void {
  // One statement, one snapshot: another process may be making the tables right now.
  const seen = db
    .prepare(
      'SELECT application_id AS id, (SELECT count(*) FROM sqlite_schema) AS tables FROM pragma_application_id',
    )
    .get();
  if (seen?.['id'] === applicationId || (seen?.['id'] === 0 && seen['tables'] === 0)) return;
  throw new StoreError('foreign', `${path} is the database of another program: choose another path.`);
}
