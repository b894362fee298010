import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { areas, migrations } from '../../../test/store/ledger.ts';
import { scratchDirectory } from '../../../test/store/scratch.ts';
import { createBatchRunner } from './batch.ts';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import type { Call } from './protocol.ts';

function openBatches(limits = { acts: 512, ms: 1000 }) {
  const path = `${scratchDirectory()}/store.db`;
  const db = openDatabase(path);
  onTestFinished(() => db.close());
  migrate(db, migrations, { now: 0, apply: true });
  const acts = Object.fromEntries(Object.entries(areas).map(([area, make]) => [area, make(db)]));
  return { db, path, runBatch: createBatchRunner(db, acts, limits) };
}

function deposit(id: number, memo = ''): Call {
  return { id, area: 'ledger', act: 'deposit', argument: { account: 'a', amount: 1, memo } };
}

const unavailable = (message: string) => ({ thrown: { code: 'store_unavailable', message } });

test('a full disk rejects the batch whole, and the next one works', () => {
  const { db, runBatch } = openBatches();
  const pages = Number(db.prepare('PRAGMA page_count').get()?.['page_count']);
  db.exec(`PRAGMA max_page_count = ${String(pages + 3)}`);
  const queue = [deposit(1), deposit(2, 'x'.repeat(100_000)), deposit(3)];
  expect(runBatch(queue)).toMatchObject([
    { id: 1, ...unavailable('The store is full.') },
    { id: 2, ...unavailable('The store is full.') },
  ]);
  expect(db.prepare('SELECT count(*) AS n FROM entry').get()).toEqual({ n: 0 });
  // The transaction was gone before the third was taken up: it waits for the next.
  expect(runBatch(queue)).toEqual([{ id: 3, value: 1 }]);
  expect(queue).toEqual([]);
});

test('a failing commit rejects the batch, refusals included', () => {
  const { db, runBatch } = openBatches();
  db.exec('CREATE TABLE owed (account TEXT REFERENCES account (name) DEFERRABLE INITIALLY DEFERRED) STRICT');
  db.exec("CREATE TRIGGER owing AFTER INSERT ON entry BEGIN INSERT INTO owed VALUES ('nobody'); END");
  const refused: Call = { id: 2, area: 'ledger', act: 'withdraw', argument: { account: 'a', amount: 5 } };
  const replies = runBatch([deposit(1), refused]);
  expect(replies).toMatchObject([
    { thrown: { message: 'FOREIGN KEY constraint failed' } },
    { thrown: { as: 'other' } },
  ]);
  expect(db.prepare('SELECT count(*) AS n FROM entry').get()).toEqual({ n: 0 });
  expect(db.isTransaction).toBe(false);
});

test('a database that another process holds rejects all that wait', () => {
  const { db, path, runBatch } = openBatches({ acts: 1, ms: 1000 });
  db.exec('PRAGMA busy_timeout = 0');
  const admin = new DatabaseSync(path);
  admin.exec('BEGIN IMMEDIATE');
  const held = unavailable('The store is held by another process.');
  expect(runBatch([deposit(1), deposit(2)])).toMatchObject([
    { id: 1, ...held },
    { id: 2, ...held },
  ]);
  admin.close();
  expect(runBatch([deposit(3)])).toEqual([{ id: 3, value: 1 }]);
});

test('a batch that has run for its time takes up no further act', () => {
  const { runBatch } = openBatches({ acts: 512, ms: 0 });
  const queue = [deposit(1), deposit(2)];
  expect(runBatch(queue)).toEqual([{ id: 1, value: 1 }]);
  expect(queue).toEqual([deposit(2)]);
});
