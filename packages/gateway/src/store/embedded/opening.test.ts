import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { migrations } from '../../../test/store/ledger.ts';
import { openLedger, scratchDirectory } from '../../../test/store/scratch.ts';
import { openDatabase } from './database.ts';
import { migrate, type Migration } from './migrate.ts';

const [accounts, entries] = migrations as [Migration, Migration];

/** Opens, migrates and closes; the tables that are there afterwards. */
function open(path: string, list: readonly Migration[], apply = true): string[] {
  const db = openDatabase(path);
  try {
    migrate(db, list, { now: 1_800_000_000_000, apply });
    return db
      .prepare('SELECT name FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name')
      .all()
      .map(({ name }) => String(name));
  } finally {
    db.close();
  }
}

function scratchPath(): string {
  return `${scratchDirectory()}/store.db`;
}

test('migrations run once each, in order, and are recorded', () => {
  const path = scratchPath();
  expect(open(path, [accounts])).toEqual(['account', 'schema_migration']);
  expect(open(path, [accounts, entries])).toEqual(['account', 'entry', 'schema_migration']);
  expect(open(path, [accounts, entries])).toEqual(['account', 'entry', 'schema_migration']);
  const db = new DatabaseSync(path);
  expect(db.prepare('SELECT number, name, applied_at FROM schema_migration').all()).toEqual([
    { number: 1, name: 'accounts', applied_at: 1_800_000_000_000 },
    { number: 2, name: 'entries', applied_at: 1_800_000_000_000 },
  ]);
  db.close();
});

test('a migration that fails leaves the database as it was', () => {
  const path = scratchPath();
  open(path, [accounts]);
  const broken = { name: 'broken', sql: 'CREATE TABLE half (x); SELECT nonsense;' };
  expect(() => open(path, [accounts, entries, broken])).toThrow('nonsense');
  expect(open(path, [accounts])).toEqual(['account', 'schema_migration']);
});

test('a newer database, a changed migration and, where not allowed, an older database are refused', () => {
  const path = scratchPath();
  open(path, [accounts, entries]);
  expect(() => open(path, [accounts])).toThrow(
    expect.objectContaining({
      code: 'newer',
      message:
        'The database is of a newer release (it has migration 2, "entries"; this one knows 1): start that release, or restore the backup made before it.',
    }),
  );
  const edited = { ...accounts, sql: `${accounts.sql} -- edited` };
  expect(() => open(path, [edited, entries])).toThrow(expect.objectContaining({ code: 'migration_changed' }));
  const added = { name: 'more', sql: 'CREATE TABLE more (x)' };
  expect(() => open(path, [accounts, entries, added], false)).toThrow(
    expect.objectContaining({ code: 'older' }),
  );
  expect(open(path, [accounts, entries], false)).toContain('entry');
});

test('an up-to-date database is opened while another process writes', () => {
  const path = scratchPath();
  open(path, [accounts]);
  const writing = new DatabaseSync(path);
  writing.exec('BEGIN IMMEDIATE');
  expect(open(path, [accounts])).toContain('account');
  writing.close();
});

test('a damaged or foreign file gives one clear error, through the thread, and is left as it is', async () => {
  const path = scratchPath();
  writeFileSync(path, 'this is no database, '.repeat(100));
  const before = readFileSync(path);
  await expect(openLedger({ path })).rejects.toMatchObject({
    name: 'StoreError',
    code: 'damaged',
    message: `${path} is not a database, or a damaged one: restore it from a backup, or move it away.`,
  });
  expect(readFileSync(path)).toEqual(before);

  const foreign = scratchPath();
  const db = new DatabaseSync(foreign);
  db.exec('CREATE TABLE bookmarks (url TEXT)');
  db.close();
  const made = readFileSync(foreign);
  await expect(openLedger({ path: foreign })).rejects.toMatchObject({ code: 'foreign' });
  expect(readFileSync(foreign)).toEqual(made);
});

test('a path that cannot be opened is named', async () => {
  const path = scratchPath();
  mkdirSync(path);
  await expect(openLedger({ path })).rejects.toMatchObject({
    code: 'cannot_open',
    message: `${path} cannot be opened: unable to open database file. Make it writable for this user, or choose another directory with --data-dir.`,
  });
  const file = scratchPath();
  writeFileSync(file, '');
  await expect(openLedger({ path: `${file}/store.db` })).rejects.toMatchObject({ code: 'cannot_open' });
});

test('an admin command of another process opens the file at any time', async () => {
  const { writer, path } = await openLedger();
  await writer.area('ledger').deposit({ account: 'a', amount: 1 });
  const script = `const { DatabaseSync } = require('node:sqlite');
    const db = new DatabaseSync(${JSON.stringify(path)}, { timeout: 5000 });
    db.exec("UPDATE account SET balance = 7");`;
  execFileSync(process.execPath, ['-e', script]);
  expect(await writer.area('ledger').deposit({ account: 'a', amount: 1 })).toBe(8);
});
