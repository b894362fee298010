import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { StoreError } from './store-error.ts';

/** One step of the schema; its number is its place in the list, from 1. */
export interface Migration {
  /** Shown to people: `oauth: accounts and keys`. */
  readonly name: string;
  /** Statements without BEGIN or COMMIT. */
  readonly sql: string;
  /** What people are told before it, where it takes long. */
  readonly notice?: (db: DatabaseSync) => string | undefined;
}

/** Marks a file as this program's (`PRAGMA application_id`): the letters "SPRT". */
export const applicationId = 0x53505254;

const history = `
  CREATE TABLE schema_migration (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
  ) STRICT;
  PRAGMA application_id = ${String(applicationId)};
`;

/**
 * Brings the database up to date, all missing steps in one transaction. Takes no lock when nothing is missing.
 * `apply: false` refuses an older database instead (a running gateway's, to an admin command of a newer release).
 */
export function migrate(
  db: DatabaseSync,
  migrations: readonly Migration[],
  options: {
    readonly now: number;
    readonly apply: boolean;
    readonly onNotice?: (notice: string) => void;
  },
): void {
  if (missing(db, migrations).length === 0 && hasHistory(db)) return;
  if (!options.apply)
    throw new StoreError(
      'older',
      'The database is of an older release: restart the gateway with this one, which brings it up to date.',
    );
  db.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been faster: what is missing is asked again under the lock.
    if (!hasHistory(db)) db.exec(history);
    const record = db.prepare(
      'INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES (?, ?, ?, ?)',
    );
    for (const { number, name, sql, notice } of missing(db, migrations)) {
      const told = notice?.(db);
      if (told !== undefined) options.onNotice?.(told);
      db.exec(sql);
      record.run(number, name, checksumOf(sql), options.now);
    }
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function hasHistory(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_migration'").get() !== undefined;
}

function missing(db: DatabaseSync, migrations: readonly Migration[]): (Migration & { number: number })[] {
  const applied = hasHistory(db)
    ? db.prepare('SELECT number, name, checksum FROM schema_migration ORDER BY number').all()
    : [];
  for (const [index, { number, name, checksum }] of applied.entries()) {
    const known = migrations[index];
    if (known === undefined)
      throw new StoreError(
        'newer',
        `The database is of a newer release (it has migration ${String(number)}, "${String(name)}"; this one knows ${String(migrations.length)}): start that release, or restore the backup made before it.`,
      );
    if (checksumOf(known.sql) !== checksum)
      throw new StoreError(
        'migration_changed',
        `Migration ${String(number)} ("${String(name)}") is not the one that this database was made with: the program was altered, or is another line of releases.`,
      );
  }
  return migrations.map((migration, index) => ({ ...migration, number: index + 1 })).slice(applied.length);
}

function checksumOf(sql: string): string {
  return createHash('sha256').update(sql).digest('hex');
}
