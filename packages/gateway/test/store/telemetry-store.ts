import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { TelemetryStore } from '@sallyport/telemetry/server';
import { onTestFinished } from 'vitest';
import { migrations } from '../../src/store/embedded/contents.ts';
import { openDatabase } from '../../src/store/embedded/database.ts';
import { migrate } from '../../src/store/embedded/migrate.ts';
import { openReader } from '../../src/store/embedded/reader.ts';
import { telemetryActs } from '../../src/store/embedded/telemetry-acts.ts';
import { telemetryReads } from '../../src/store/embedded/telemetry-reads.ts';
import { scratchDirectory } from './scratch.ts';

/** The telemetry's tables without the writer's thread; each act is a transaction of its own. */
export function openTelemetryStore(): { readonly db: DatabaseSync; readonly store: TelemetryStore } {
  const path = join(scratchDirectory(), 'store.db');
  const db = openDatabase(path);
  migrate(db, migrations, { now: 1_800_000_000_000, apply: true });
  const acts = telemetryActs(db);
  const reader = openReader(path);
  onTestFinished(() => {
    reader.close();
    db.close();
  });
  const inTurn =
    <Input, Answer>(act: (argument: Input) => Answer) =>
    async (argument: Input) =>
      inTransaction(db, () => act(structuredClone(argument)));
  const store = {
    appendRecords: inTurn(acts.appendRecords),
    dropOldest: inTurn(acts.dropOldest),
    advanceExport: inTurn(acts.advanceExport),
    deleteAccountRecords: inTurn(acts.deleteAccountRecords),
    deleteOrganizationRecords: inTurn(acts.deleteOrganizationRecords),
    replaceBlocks: inTurn(acts.replaceBlocks),
    ...telemetryReads(reader),
  };
  return { db, store };
}

function inTransaction<T>(db: DatabaseSync, act: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const answer = act();
    db.exec('COMMIT');
    return answer;
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
  }
}
