import type { Query } from './query.ts';
import type { Reader, SnapshotReader } from './reader.ts';

export interface TurnReader extends Reader {
  /** To be called before an act's answer is told: what is read from then on sees it. */
  renew(): void;
}

/**
 * Has the reads of one turn of the event loop share a snapshot: to take SQLite's locks, as each read by itself does, costs
 * more than to read a row. What another process wrote is seen from the next turn on.
 */
export function readByTurns(reader: SnapshotReader): TurnReader {
  let isOpen = false;

  function open(): void {
    if (isOpen) return;
    isOpen = true;
    reader.begin();
    setImmediate(renew);
  }

  function renew(): void {
    if (!isOpen) return;
    isOpen = false;
    reader.end();
  }

  return {
    renew,
    close: () => reader.close(),
    query<Row>(sql: string): Query<Row> {
      const query = reader.query<Row>(sql);
      return {
        get(...parameters) {
          open();
          return query.get(...parameters);
        },
        all(...parameters) {
          open();
          return query.all(...parameters);
        },
        each(...parameters) {
          open();
          return query.each(...parameters);
        },
      };
    },
  };
}
