import { DatabaseSync } from 'node:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openReader } from './reader.ts';
import { shareReads } from './shared-reads.ts';

test('a question is answered once between two commits, and anew after each', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-shared-'));
  const path = join(directory, 'store.db');
  const writer = new DatabaseSync(path);
  writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE note (text TEXT)');
  const reader = openReader(path);
  onTestFinished(() => {
    reader.close();
    writer.close();
    rmSync(directory, { recursive: true });
  });
  const all = reader.query<{ text: string }>('SELECT text FROM note ORDER BY text');
  const shared = shareReads(reader);
  let reads = 0;
  const ask = (question: string) =>
    shared(question, () => {
      reads++;
      return all.all().map(({ text }) => text);
    });

  expect([ask('all'), ask('all'), ask('all')]).toEqual([[], [], []]);
  expect(reads).toBe(1);
  writer.exec("INSERT INTO note VALUES ('one')");
  expect([ask('all'), ask('all')]).toEqual([['one'], ['one']]);
  expect(reads).toBe(2);
  // What is not committed changes nothing, and what is undone neither.
  writer.exec("BEGIN; INSERT INTO note VALUES ('two')");
  expect(ask('all')).toEqual(['one']);
  writer.exec('COMMIT');
  expect(ask('all')).toEqual(['one', 'two']);
  expect(reads).toBe(3);

  for (let question = 0; question < 100; question++) ask(String(question));
  expect(reads).toBe(103);
  ask('all'); // pushed out meanwhile: what is kept is bounded
  expect(reads).toBe(104);
});
