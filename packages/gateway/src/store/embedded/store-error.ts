import { ServiceError } from '@sallyport/core';

/** Why a store, or its directory, could not be opened. */
export type StoreErrorCode =
  /** Another gateway holds the store. */
  | 'in_use'
  /** The path cannot be opened or written. */
  | 'cannot_open'
  /** The file is no SQLite database, or a damaged one. */
  | 'damaged'
  /** A sound database, but another program's. */
  | 'foreign'
  /** The database has migrations that this program does not know. */
  | 'newer'
  /** The database lacks migrations, and the caller may not apply them. */
  | 'older'
  /** A migration that was applied reads otherwise today. */
  | 'migration_changed';

/** A store that cannot be opened: for the person who starts the program, hence no HTTP status. The message says what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** There is nothing to work on at `path`: a typing mistake, mostly. */
export function noStore(path: string): StoreError {
  return new StoreError(
    'cannot_open',
    `There is no store ${path}: name the directory that it is in with --data-dir. The first start makes one.`,
  );
}

/** The primary result code (https://sqlite.org/rescode.html) of an error that SQLite threw. */
export function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined;
  return error.errcode & 0xff;
}

export const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
export const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;

const surroundings = new Map([
  [SQLITE_BUSY, 'The store is held by another process.'],
  [6, 'The store is held by another process.'], // LOCKED
  [7, 'The store is out of memory.'], // NOMEM
  [8, 'The store cannot be written.'], // READONLY
  [10, 'The store cannot be written.'], // IOERR
  [SQLITE_CORRUPT, 'The store is damaged.'],
  [SQLITE_FULL, 'The store is full.'],
  [14, 'The store cannot be written.'], // CANTOPEN
  [SQLITE_NOTADB, 'The store is damaged.'],
]);

/** `store_unavailable` when the disk or another process is to blame, not the act; else undefined. */
export function storeUnavailable(error: unknown): ServiceError | undefined {
  const reason = surroundings.get(sqliteCode(error) ?? 0);
  if (reason === undefined) return undefined;
  return new ServiceError('store_unavailable', reason, { retryAfterMs: 1000, cause: error });
}

/** The one clear sentence for what went wrong while opening the file at `path`. */
export function openingError(path: string, error: unknown): unknown {
  const code = sqliteCode(error);
  if (error instanceof StoreError || code === undefined) return error;
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB)
    return new StoreError(
      'damaged',
      `${path} is not a database, or a damaged one: restore it from a backup, or move it away.`,
      {
        cause: error,
      },
    );
  const reason = surroundings.get(code);
  return reason === undefined
    ? error
    : new StoreError(
        'cannot_open',
        `${path} cannot be opened: ${(error as Error).message}. ${code === SQLITE_FULL ? 'Make room on that disk' : 'Make it writable for this user'}, or choose another directory with --data-dir.`,
        { cause: error },
      );
}
