import { createLru } from '@sallyport/core';
import { DatabaseSync } from 'node:sqlite';
import { select, type Query } from './query.ts';
import { openingError } from './store-error.ts';

/** Bounded reads on the calling thread. Every answered act is seen, and so is what another process wrote. */
export interface Reader {
  /** Prepares `sql`, once for each text. Reads by key, or with a LIMIT: the event loop waits meanwhile. */
  query<Row>(sql: string): Query<Row>;
  /** Idempotent. */
  close(): void;
}

/** A reader whose reads can be put together. */
export interface SnapshotReader extends Reader {
  /** What is read until `end` is of one snapshot, the one of the first read. Each is idempotent. */
  begin(): void;
  end(): void;
}

/** Statements kept; texts composed at run time (a list's filters) push the oldest out. */
const keptStatements = 256;

/** Opens the file, which a writer made before, read-only. In WAL mode readers and the writer never wait for each other. */
export function openReader(path: string): SnapshotReader {
  const db = open(path);
  const kept = createLru<Query<unknown>>(keptStatements);
  const [begin, commit] = [db.prepare('BEGIN'), db.prepare('COMMIT')];

  return {
    query<Row>(sql: string) {
      const query = kept.get(sql) ?? select(db, sql);
      kept.set(sql, query);
      return query as Query<Row>;
    },
    begin: () => db.isTransaction || begin.run(),
    end: () => db.isOpen && db.isTransaction && commit.run(),
    close: () => db.isOpen && db.close(),
  };
}

function open(path: string): DatabaseSync {
  try {
    // The wait is short because it would be the event loop's: only recovery after a crash ever makes a reader wait.
    return new DatabaseSync(path, { readOnly: true, timeout: 250 });
  } catch (error) {
    throw openingError(path, error);
  }
}
