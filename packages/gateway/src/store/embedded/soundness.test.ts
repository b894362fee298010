import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { scratchDirectory } from '../../../test/store/scratch.ts';
import { loadConfig } from '../../config/load.ts';
import { describeFailure } from '../../admin/failure.ts';
import { startGateway } from '../../start.ts';
import { checkSoundness } from './soundness.ts';
import { openEmbeddedStore } from './store.ts';

/** A store of which a page of the table's tree has 4 KiB of something else. */
async function damagedStore(table: string): Promise<{ dataDir: string; path: string }> {
  const dataDir = scratchDirectory();
  const path = join(dataDir, 'sallyport.db');
  await (await openEmbeddedStore({ path })).close();
  const db = new DatabaseSync(path);
  const add = db.prepare(
    `INSERT INTO telemetry_dead_letter
       (organization_id, received_at, refused_at, status, reason, records, bytes, path, headers, body)
     VALUES ('', 0, 0, 400, '', 1, 100, '/', '[]', zeroblob(500))`,
  );
  db.exec('BEGIN');
  for (let i = 0; i < 200; i++) add.run();
  db.exec('COMMIT');
  const root = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)?.['rootpage'];
  db.close();
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, (Number(root) - 1) * 4096);
  closeSync(file);
  return { dataDir, path };
}

test.each(['telemetry_dead_letter', 'telemetry_outbox', 'account'])(
  'a start refuses a store with a damaged page of %s, says what to do, and leaves the file as it is',
  async (table) => {
    const { dataDir, path } = await damagedStore(table);
    const before = readFileSync(path);
    const { config } = loadConfig({ env: {}, flags: { port: 0, dataDir } });
    const refusal: unknown = await startGateway({ config }).catch((error: unknown) => error);
    const { message, exitCode } = describeFailure(refusal);
    expect(message).toMatch(/sallyport\.db is damaged \(.+\): restore it from a backup, or carry/);
    expect(exitCode).toBe(1);
    expect(readFileSync(path)).toEqual(before);
  },
);

test('a large store is looked through where nobody else has what is in it; the doctor looks at all', async () => {
  for (const [table, atStart] of [
    ['telemetry_dead_letter', 'damaged'],
    ['account', 'sound'],
  ] as const) {
    const { path } = await damagedStore(table);
    const db = new DatabaseSync(path);
    const look = (check: 'start' | 'whole') => {
      try {
        checkSoundness(db, path, check, { wholeUpTo: 0 });
        return 'sound';
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect([look('start'), look('whole')]).toEqual([atStart, 'damaged']);
    db.close();
  }
});
