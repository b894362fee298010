import { DatabaseSync } from 'node:sqlite';
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { select } from './query.ts';

function openTable(): DatabaseSync {
  const db = new DatabaseSync(':memory:');
  onTestFinished(() => db.close());
  db.exec(
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a_b TEXT, c BLOB); INSERT INTO t VALUES (1, 'x', x'00'), (2, NULL, NULL)",
  );
  return db;
}

test('a row is an object of its columns, under the names that the text gives them', () => {
  const rows = select(openTable(), 'SELECT id, a_b AS ab, c FROM t WHERE id >= ? ORDER BY id');
  expect(rows.get(2)).toStrictEqual({ id: 2, ab: null, c: null });
  expect(rows.get(3)).toBeUndefined();
  expect(rows.all(1)).toStrictEqual([
    { id: 1, ab: 'x', c: new Uint8Array([0]) },
    { id: 2, ab: null, c: null },
  ]);
});

test('all rows of one text have one hidden class, whatever is in them', () => {
  setFlagsFromString('--allow-natives-syntax');
  const isOfOneClass = runInThisContext('(a, b) => %HaveSameMap(a, b) && %HasFastProperties(a)') as (
    ...rows: unknown[]
  ) => boolean;
  const db = openTable();
  const rows = select(db, 'SELECT id, a_b, c FROM t ORDER BY id').all();
  expect(isOfOneClass(...rows)).toBe(true);
  // What `node:sqlite` gives by itself: where this is true, too, `select` need not put rows together.
  expect(isOfOneClass(...db.prepare('SELECT id, a_b, c FROM t ORDER BY id').all())).toBe(false);
});
