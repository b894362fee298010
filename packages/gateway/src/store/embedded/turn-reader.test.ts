import { DatabaseSync } from 'node:sqlite';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openReader } from './reader.ts';
import { openEmbeddedStore } from './store.ts';
import { readByTurns } from './turn-reader.ts';

function scratch() {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-turns-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'store.db');
}

/** A table of notes, and a reader beside who writes them. */
function notesRead() {
  const path = scratch();
  const writer = new DatabaseSync(path);
  writer.exec('PRAGMA journal_mode = WAL; CREATE TABLE note (text TEXT)');
  const reader = readByTurns(openReader(path));
  onTestFinished(() => {
    reader.close();
    writer.close();
  });
  return { writer, reader };
}

test('what another connection wrote is seen from the next turn on, and at once after `renew`', async () => {
  const { writer, reader } = notesRead();
  const notes = reader.query<{ text: string }>('SELECT text FROM note');
  const texts = () => notes.all().map(({ text }) => text);

  expect(texts()).toEqual([]);
  writer.exec("INSERT INTO note VALUES ('one')");
  expect(texts()).toEqual([]);
  await setImmediate();
  expect(texts()).toEqual(['one']);
  writer.exec("INSERT INTO note VALUES ('two')");
  reader.renew();
  expect(texts()).toEqual(['one', 'two']);
});

test('no snapshot is held between turns: the log can be folded back', async () => {
  const { writer, reader } = notesRead();
  reader.query('SELECT text FROM note').all();
  writer.exec("INSERT INTO note VALUES ('one')");
  const fold = () => writer.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'];
  expect(fold()).toBe(1);
  await setImmediate();
  expect(fold()).toBe(0);
});

test('an act that was answered is seen, whatever was read before in the same turn', async () => {
  const path = scratch();
  const store = await openEmbeddedStore({ path });
  const other = new DatabaseSync(path, { readOnly: true });
  onTestFinished(async () => {
    other.close();
    await store.close();
  });
  const client = { name: 'c', redirectUris: [], grantTypes: [], scope: 'profile', createdAt: 1 };
  const there = other.prepare("SELECT 1 FROM oauth_client WHERE id = 'c'");
  const find = () => store.oauth.reads.client({ clientId: 'c' });

  const added = store.oauth.acts.addClient({ client: { ...client, id: 'c' } }).then(find);
  await setImmediate(); // the act is with the writer
  await find(); // mostly before it is committed
  // In this turn still: the answer is there when the next one begins, where the snapshot has not ended yet.
  while (there.get() === undefined);
  for (const until = performance.now() + 20; performance.now() < until;);
  expect(await added).toBeDefined();
});
