import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from './store-error.ts';

/** `start`: what can be looked at within a second or so; `whole`: all of it, however long that takes. */
export type SoundnessCheck = 'start' | 'whole';

/** SQLite goes through a GiB a second, where the disk is as quick: a larger store is not looked through while people wait. */
const wholeAtStartBytes = 256 * 1024 * 1024;
/** What was accepted and nobody else has; it is bounded. */
const always = ['telemetry_outbox', 'telemetry_dead_letter'];

/** Throws a `StoreError` where pages of the database are damaged: what is written to one of those may damage more. */
export function checkSoundness(
  db: DatabaseSync,
  path: string,
  check: SoundnessCheck,
  { wholeUpTo = wholeAtStartBytes } = {},
): void {
  const size = db
    .prepare('SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size')
    .get();
  const isWhole = check === 'whole' || Number(size?.['bytes']) <= wholeUpTo;
  const isTable = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
  const parts = isWhole ? [''] : always.filter((name) => isTable.get(name)).map((name) => `('${name}')`);
  for (const part of parts) {
    const found = String(Object.values(db.prepare(`PRAGMA quick_check${part}`).get() ?? {})[0]);
    if (found !== 'ok') throw damaged(path, found);
  }
}

function damaged(path: string, found: string): StoreError {
  const where = found.replaceAll(/\s+/g, ' ').trim();
  return new StoreError(
    'damaged',
    `${path} is damaged (${where}): restore it from a backup, or carry what can be read into a new file with \`sqlite3 OLD .recover | sqlite3 NEW\`.`,
  );
}
