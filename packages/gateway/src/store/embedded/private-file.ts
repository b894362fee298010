import { chmodSync, realpathSync, statSync } from 'node:fs';
import type { Log } from '@sallyport/core';

/** Takes the store's files from everybody else: one that was restored from a backup often is open, with every key in it. */
export function keepPrivate(path: string, log: Pick<Log, 'warn'>): void {
  if (process.platform === 'win32') return; // modes mean nothing there
  const store = realpathSync(path); // SQLite puts the others beside the real one
  for (const file of [store, `${store}-wal`, `${store}-shm`]) {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode;
    if (mode === undefined || (mode & 0o077) === 0) continue;
    const found = (mode & 0o777).toString(8);
    try {
      chmodSync(file, 0o600);
      log.warn({ file, found }, 'Others could read the store, where keys are: now this account alone can.');
    } catch (error) {
      log.warn({ file, found, err: error }, 'Others can read the store, where keys are; its mode stays.');
    }
  }
}
