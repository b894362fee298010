import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';

/** A prepared read. `Row` is what the columns are said to be; nothing checks it. */
export interface Query<Row> {
  get(...parameters: SQLInputValue[]): Row | undefined;
  all(...parameters: SQLInputValue[]): Row[];
  /** Read one by one: who stops early has read no more. */
  each(...parameters: SQLInputValue[]): Iterable<Row>;
}

/**
 * Prepares a read. The rows of one text have one hidden class: `node:sqlite` makes each row a dictionary, which costs more than
 * reading it did and slows down whatever takes its columns (docs/store.md).
 */
export function select<Row>(db: DatabaseSync, sql: string): Query<Row> {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  const names = statement.columns().map(({ name }) => name);

  function toRow(values: readonly SQLOutputValue[]): Row {
    const row: Record<string, SQLOutputValue> = {};
    names.forEach((name, index) => {
      row[name] = values[index] ?? null;
    });
    return row as Row;
  }

  return {
    get(...parameters) {
      const values = statement.get(...parameters) as unknown as readonly SQLOutputValue[] | undefined;
      return values && toRow(values);
    },
    all(...parameters) {
      return (statement.all(...parameters) as unknown as (readonly SQLOutputValue[])[]).map(toRow);
    },
    *each(...parameters) {
      for (const values of statement.iterate(...parameters))
        yield toRow(values as unknown as readonly SQLOutputValue[]);
    },
  };
}
