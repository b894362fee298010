import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { replaceFileSync } from '@sallyport/core/replace-file';
import { identify, isAlive, type ProcessIdentity } from '@sallyport/core/process-identity';
import { RuntimeError } from './runtime-error.ts';

/** SQLite's primary result codes for "another has the lock" (https://sqlite.org/rescode.html). */
const busyCodes: readonly number[] = [5, 6];

/**
 * Makes this process the only bridge on the files of `folder`; gives the release. Throws `conflict` where another one
 * lives. The lock is SQLite's own on an empty database, held and never written to: the kernel frees it however the holder
 * ends, and no two find it stale. Who holds it stands beside it, in `holder.json`.
 */
export function lockDirectory(folder: string): () => void {
  const holderFile = join(folder, 'holder.json');
  const db = new DatabaseSync(join(folder, 'lock.db'), { timeout: 0 });
  try {
    // No journal file: one that a killed holder left would have to be removed under the lock, by several at once.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN IMMEDIATE');
    replaceFileSync(holderFile, JSON.stringify(identify(process.pid)));
  } catch (error) {
    db.close();
    if (!isBusy(error)) throw error;
    const pid = lockHolder(folder);
    const who = pid === undefined ? '' : ` (pid ${pid})`;
    throw new RuntimeError(
      'conflict',
      `A bridge for this directory runs already${who}: stop it with Ctrl-C there, or use another --dir.`,
    );
  }
  return () => {
    rmSync(holderFile, { force: true });
    db.close();
  };
}

/** The process that has the lock; `undefined`: none, or it has only just taken it. Looking never gets in its way. */
export function lockHolder(folder: string): number | undefined {
  try {
    const holder = JSON.parse(readFileSync(join(folder, 'holder.json'), 'utf8')) as ProcessIdentity;
    return isAlive(holder) ? holder.pid : undefined;
  } catch {
    return undefined;
  }
}

function isBusy(error: unknown): boolean {
  // Extended codes have the primary one in their low byte.
  return (
    error instanceof Error &&
    'errcode' in error &&
    typeof error.errcode === 'number' &&
    busyCodes.includes(error.errcode & 0xff)
  );
}
