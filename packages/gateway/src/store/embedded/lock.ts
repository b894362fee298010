import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openingError, SQLITE_BUSY, sqliteCode, StoreError } from './store-error.ts';

/** A data directory that this process holds. */
export interface DirectoryLock {
  /** Idempotent. */
  release(): void;
}

/** Keeps held connections referenced: one that is garbage-collected closes, and would drop its lock. */
const held = new Set<DatabaseSync>();

/**
 * Makes this process the one gateway of `directory`; throws `StoreError` `directory_in_use` naming the process that is.
 * The lock is SQLite's own write lock on a file beside the database, so the kernel frees it however the holder ends.
 * The database itself stays open to others: admin commands do not ask for this lock.
 */
export function lockDataDirectory(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, 'gateway.lock');
  const db = open(path);
  try {
    db.exec('BEGIN IMMEDIATE');
    // Committed, so that others can read it beside the lock, which is taken again at once.
    db.exec(`PRAGMA user_version = ${String(process.pid)}; COMMIT; BEGIN IMMEDIATE;`);
    held.add(db);
    return { release: () => held.delete(db) && db.close() };
  } catch (error) {
    const refusal = sqliteCode(error) === SQLITE_BUSY ? inUse(directory, db) : openingError(path, error);
    db.close();
    throw refusal;
  }
}

/** Whether a gateway runs on `directory` now. */
export function isDataDirectoryLocked(directory: string): boolean {
  try {
    lockDataDirectory(directory).release();
    return false;
  } catch (error) {
    if (error instanceof StoreError && error.code === 'directory_in_use') return true;
    throw error;
  }
}

function inUse(directory: string, db: DatabaseSync): StoreError {
  const holder = db.prepare('PRAGMA user_version').get()?.['user_version'];
  return new StoreError(
    'directory_in_use',
    `The data directory ${directory} is in use by another gateway (process ${String(holder)}): stop it, or give this one a directory of its own.`,
  );
}

function open(path: string): DatabaseSync {
  try {
    // Long enough for another process to read or write the holder's id, short enough to refuse at once.
    return new DatabaseSync(path, { timeout: 200 });
  } catch (error) {
    throw openingError(path, error);
  }
}
