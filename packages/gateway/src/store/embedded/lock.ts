import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openingError, SQLITE_BUSY, sqliteCode, StoreError } from './store-error.ts';

/** A data directory that this process holds. */
export interface DirectoryLock {
  /** Idempotent. */
  release(): void;
}

/** Who holds a data directory; `url` is null for a command that only migrates. */
export interface LockHolder {
  readonly pid: number;
  readonly url: string | null;
}

const lockFile = 'gateway.lock';

/** Keeps held connections referenced: one that is garbage-collected closes, and would drop its lock. */
const held = new Set<DatabaseSync>();

/**
 * Makes this process the one gateway of `directory`; throws `StoreError` `directory_in_use` naming the process that is.
 * The lock is SQLite's own write lock on a file beside the database, so the kernel frees it however the holder ends.
 * The database itself stays open to others: admin commands do not ask for this lock, but for `url`, where clients reach
 * the gateway.
 */
export function lockDataDirectory(directory: string, url: string | null = null): DirectoryLock {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, lockFile);
  const db = open(path);
  try {
    db.exec(
      'CREATE TABLE IF NOT EXISTS holder (pid INTEGER, url TEXT); BEGIN IMMEDIATE; DELETE FROM holder;',
    );
    db.prepare('INSERT INTO holder VALUES (?, ?)').run(process.pid, url);
    // Committed, so that others can read it beside the lock, which is taken again at once.
    db.exec('COMMIT; BEGIN IMMEDIATE;');
    held.add(db);
    return { release: () => held.delete(db) && db.close() };
  } catch (error) {
    const refusal =
      sqliteCode(error) === SQLITE_BUSY ? inUse(directory, holderOf(db)) : openingError(path, error);
    db.close();
    throw refusal;
  }
}

/** The gateway that runs on `directory` now, if one does. Makes nothing. */
export function runningGateway(directory: string): LockHolder | undefined {
  const path = join(directory, lockFile);
  if (!existsSync(path)) return undefined;
  const db = open(path);
  try {
    db.exec('BEGIN IMMEDIATE');
    return undefined;
  } catch (error) {
    if (sqliteCode(error) === SQLITE_BUSY) return holderOf(db);
    throw openingError(path, error);
  } finally {
    db.close();
  }
}

function holderOf(db: DatabaseSync): LockHolder {
  return db.prepare('SELECT pid, url FROM holder').get() as unknown as LockHolder;
}

function inUse(directory: string, { pid }: LockHolder): StoreError {
  return new StoreError(
    'directory_in_use',
    `The data directory ${directory} is in use by another gateway (process ${pid}): stop it, or give this one a directory of its own.`,
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
