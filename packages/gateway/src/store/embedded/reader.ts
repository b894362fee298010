import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { openingError } from './store-error.ts';

/** A prepared read. `Row` is what the columns are said to be; nothing checks it. */
export interface Query<Row> {
  get(...parameters: SQLInputValue[]): Row | undefined;
  all(...parameters: SQLInputValue[]): Row[];
}

/** Bounded reads on the calling thread. Every answered act is seen, and so is what another process wrote. */
export interface Reader {
  /**
   * Prepares `sql`, once for each text. Reads by key, or with a LIMIT: the event loop waits meanwhile.
   * `bigints` gives every integer as a bigint, for columns that go beyond 2^53 (others throw there).
   */
  query<Row>(sql: string, options?: { readonly bigints?: boolean }): Query<Row>;
  /** Runs several reads on one state of the database. `read` is synchronous. */
  snapshot<T>(read: () => T): T;
  /** Idempotent. */
  close(): void;
}

/** Statements kept; texts composed at run time (a list's filters) push the oldest out. */
const keptStatements = 256;

/** Opens the file, which a writer made before, read-only. In WAL mode readers and the writer never wait for each other. */
export function openReader(path: string): Reader {
  const db = open(path);
  const kept = new Map<string, Query<unknown>>();

  return {
    query<Row>(sql: string, { bigints = false } = {}) {
      const key = `${String(bigints)} ${sql}`;
      const query = kept.get(key) ?? prepare(sql, bigints);
      // Taken out and put in again: the map's order is that of the last use.
      kept.delete(key);
      kept.set(key, query);
      const oldest = kept.keys().next().value;
      if (kept.size > keptStatements && oldest !== undefined) kept.delete(oldest);
      return query as Query<Row>;
    },
    snapshot(read) {
      db.exec('BEGIN');
      try {
        return read();
      } finally {
        db.exec('COMMIT');
      }
    },
    close: () => db.isOpen && db.close(),
  };

  function prepare(sql: string, bigints: boolean): Query<unknown> {
    const statement = db.prepare(sql);
    statement.setReadBigInts(bigints);
    return statement;
  }
}

function open(path: string): DatabaseSync {
  try {
    // The wait is short because it would be the event loop's: only recovery after a crash ever makes a reader wait.
    return new DatabaseSync(path, { readOnly: true, timeout: 250 });
  } catch (error) {
    throw openingError(path, error);
  }
}
