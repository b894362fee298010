import { existsSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { replaceFileSync } from '@sallyport/core/replace-file';
import { makeStoreDirectory } from './directory.ts';
import { openingError, SQLITE_BUSY, sqliteCode, StoreError } from './store-error.ts';

/** A store that this process holds. */
export interface StoreLock {
  /** Idempotent. */
  release(): void;
}

/** Who holds a store: `pid` is null where it is not known, `url` also for a command that only migrates. */
export interface LockHolder {
  readonly pid: number | null;
  readonly url: string | null;
}

/** Keeps held connections referenced: one that is garbage-collected closes, and would drop its lock. */
const held = new Set<DatabaseSync>();

/**
 * Makes this process the one gateway of the store at `path`, whichever way the path is written; makes its directory.
 * Throws `StoreError` `in_use` naming the process that is. The lock is SQLite's own write lock on an empty file beside the
 * store, so the kernel frees it however the holder ends. The store itself stays open to others: admin commands do not ask
 * for this lock, but for `url`, where clients reach the gateway.
 */
export function lockStore(path: string, url: string | null = null): StoreLock {
  makeStoreDirectory(dirname(path));
  const files = lockFilesOf(path);
  const db = open(files.lock);
  try {
    const holder = take(db, files.holder);
    if (holder !== undefined) throw inUse(path, holder);
    replaceFileSync(files.holder, `${JSON.stringify({ pid: process.pid, url } satisfies LockHolder)}\n`);
    held.add(db);
  } catch (error) {
    db.close();
    throw openingError(files.lock, error);
  }
  return {
    release() {
      if (!held.delete(db)) return;
      rmSync(files.holder, { force: true });
      db.close();
    },
  };
}

/** The gateway that runs on the store at `path` now, if one does. Makes nothing. */
export function runningGateway(path: string): LockHolder | undefined {
  if (!existsSync(dirname(path))) return undefined;
  const files = lockFilesOf(path);
  if (!existsSync(files.lock)) return undefined;
  const db = open(files.lock);
  try {
    return take(db, files.holder);
  } catch (error) {
    throw openingError(files.lock, error);
  } finally {
    db.close();
  }
}

/** How one says who it is: `process 4711, http://127.0.0.1:8787`. */
export function describeHolder({ pid, url }: LockHolder): string {
  const who = pid === null ? 'a process that does not say which' : `process ${pid}`;
  return url === null ? who : `${who}, ${url}`;
}

/** Beside the real file: two paths that lead to one store have one lock. */
function lockFilesOf(path: string): { readonly lock: string; readonly holder: string } {
  const real = existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
  return { lock: `${real}.lock`, holder: `${real}.lock.json` };
}

/** Takes the lock, or tells who has it. */
function take(db: DatabaseSync, holderFile: string): LockHolder | undefined {
  for (let triesLeft = 5; ; triesLeft--) {
    try {
      db.exec('BEGIN IMMEDIATE');
      return undefined;
    } catch (error) {
      if (sqliteCode(error) !== SQLITE_BUSY) throw error;
    }
    const holder = readHolder(holderFile);
    // Who has just taken it has yet to say so, and the file may still name one that was killed; a command that only
    // looks has it for a moment.
    if (triesLeft === 0 || (holder.pid !== null && isAlive(holder.pid))) return holder;
  }
}

function readHolder(path: string): LockHolder {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as LockHolder;
  } catch {
    return { pid: null, url: null };
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function inUse(path: string, holder: LockHolder): StoreError {
  return new StoreError(
    'in_use',
    `The store ${path} is in use by another gateway (${describeHolder(holder)}): stop it, or give this one a directory of its own with --data-dir.`,
  );
}

function open(path: string): DatabaseSync {
  try {
    // Long enough for another process to say who it is, short enough to refuse at once.
    return new DatabaseSync(path, { timeout: 200 });
  } catch (error) {
    throw openingError(path, error);
  }
}
