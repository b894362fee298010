import { ServiceError } from '@sallyport/core';
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
  const ran: string[] = [];
  const refuse = () => {
    throw new ServiceError('conflict', 'It is not allowed.');
  };
  const acts = Object.entries({ ...areas.ledger(db), refuse }).map(([name, act]) => [
    name,
    (argument: never) => {
      ran.push(name);
      return act(argument);
    },
  ]);
  const ledger = Object.fromEntries(acts) as object;
  return { db, path, ran, runBatch: createBatchRunner(db, { ledger }, limits) };
}

function deposit(id: number, memo = ''): Call {
  return { id, area: 'ledger', act: 'deposit', argument: { account: 'a', amount: 1, memo } };
}

function refused(id: number, act: 'refuse' | 'withdraw'): Call {
  return { id, area: 'ledger', act, argument: { account: 'a', amount: 5 } };
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
  const replies = runBatch([deposit(1), refused(2, 'withdraw')]);
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

test('a refusal that comes before a write costs the others of its batch nothing', () => {
  const { db, ran, runBatch } = openBatches();
  expect(runBatch([deposit(1), refused(2, 'refuse'), deposit(3)])).toMatchObject([
    { id: 1, value: 1 },
    { id: 2, thrown: { code: 'conflict' } },
    { id: 3, value: 2 },
  ]);
  expect(ran).toEqual(['deposit', 'refuse', 'deposit']);
  expect(db.prepare('SELECT count(*) AS n FROM entry').get()).toEqual({ n: 2 });
});

test('after a refusal that comes after a write all run again, and it alone is undone', () => {
  const { db, ran, runBatch } = openBatches({ acts: 5, ms: 1000 });
  const calls = [
    deposit(1),
    refused(2, 'withdraw'),
    deposit(3),
    refused(4, 'withdraw'),
    deposit(5),
    deposit(6),
  ];
  const queue = [...calls];
  expect(runBatch(queue)).toMatchObject([
    { id: 1, value: 1 },
    { id: 2, thrown: { code: 'conflict', options: { details: { balance: 1 } } } },
    { id: 3, value: 2 },
    { id: 4, thrown: { code: 'conflict', options: { details: { balance: 2 } } } },
    { id: 5, value: 3 },
  ]);
  expect(queue).toEqual(calls.slice(5));
  expect(ran).toEqual(['deposit', 'withdraw', 'deposit', 'withdraw', 'deposit', 'withdraw', 'deposit']);
  expect(db.prepare('SELECT count(*) AS n FROM entry').get()).toEqual({ n: 3 });
});
