import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { workTerms, defaultBridgeConfig } from '@sallyport/bridge/server';
import { workStates } from '@sallyport/bridge/storage';
import { expect, onTestFinished, test } from 'vitest';
import { bridgeActs } from '../../src/store/embedded/bridge-acts.ts';
import { bridgeReads } from '../../src/store/embedded/bridge-reads.ts';
import { migrations } from '../../src/store/embedded/contents.ts';
import { openDatabase } from '../../src/store/embedded/database.ts';
import { migrate } from '../../src/store/embedded/migrate.ts';
import { select } from '../../src/store/embedded/query.ts';
import { scratchDirectory } from '../store/scratch.ts';

function openStore(from = migrations): DatabaseSync {
  const db = openDatabase(join(scratchDirectory(), 'store.db'));
  onTestFinished(() => db.close());
  migrate(db, from, { now: 1, apply: true });
  return db;
}

/** What each statement of the bridge does, step by step. */
function plansOf(db: DatabaseSync): ReadonlyMap<string, readonly string[]> {
  const texts = new Set<string>();
  const noted = new Proxy(db, {
    get(_, name) {
      if (name !== 'prepare') throw new Error(`The acts ask for ${String(name)}.`);
      return (sql: string) => {
        texts.add(sql);
        return db.prepare(sql);
      };
    },
  });
  bridgeActs(noted);
  bridgeReads({ query: (sql) => select(noted, sql), close: () => undefined });
  const steps = (sql: string) => db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  return new Map([...texts].map((sql) => [sql, steps(sql).map(({ detail }) => String(detail))]));
}

test('nothing that the bridge asks for is looked for in a whole table', () => {
  const steps = [...plansOf(openStore()).values()].flat();
  const scans = steps.filter((step) => /^SCAN (?!\(subquery)/.test(step) && !/VIRTUAL TABLE/.test(step));
  expect(new Set(scans)).toEqual(
    new Set([
      'SCAN bridge_registration', // for the metrics: a row for each bridge that there is
      'SCAN deleted_environment', // of the last 90 days
      'SCAN listed', // a page, found before
      'SCAN work USING INDEX work_idle',
      'SCAN work USING INDEX work_running',
    ]),
  );
});

test('live sessions are counted without a look at those that have ended', () => {
  const [plan = []] = [...plansOf(openStore())].flatMap(([sql, steps]) =>
    /count\(\*\) AS count/.test(sql) ? [steps] : [],
  );
  expect(plan.filter((step) => /^SEARCH/.test(step))).toEqual(
    Array.from({ length: 2 }, () => 'SEARCH s USING PRIMARY KEY (id=?)'),
  );
});

test("all of an environment's open work is stopped with it, also in a store of before", () => {
  const before = migrations.findIndex(({ name }) => name === 'bridge: open work by environment');
  const db = openStore(migrations.slice(0, before));
  db.exec(
    `INSERT INTO environment (id, organization_id, account_id, machine_name, directory, metadata, created_at, updated_at)
       VALUES ('env', 'org', 'ann', 'm', '/d', '{}', 1, 1)`,
  );
  for (const environment of ['env', 'other'])
    for (const state of Object.keys(workStates))
      db.exec(
        `INSERT INTO session (id, organization_id, account_id, environment_id, work_id, title, tags, context, created_at, updated_at)
           VALUES ('${environment}-${state}', 'org', 'ann', '${environment}', '${environment}-${state}', '', '[]', '{}', 1, 1);
         INSERT INTO work (id, environment_id, session_id, type, state, created_at)
           VALUES ('${environment}-${state}', '${environment}', '${environment}-${state}', 'session', '${state}', 1)`,
      );
  migrate(db, migrations, { now: 2, apply: true });
  const terms = workTerms(defaultBridgeConfig);
  const stopped = bridgeActs(db).deleteEnvironment({ environmentId: 'env', now: 3, terms });
  const open = Object.entries(workStates).flatMap(([state, { moves }]) => (moves.length > 0 ? [state] : []));
  expect(stopped.map(({ workId }) => workId).sort()).toEqual(open.map((state) => `env-${state}`).sort());
  expect(new Set(stopped.map(({ state }) => state))).toEqual(new Set(['stopped']));
});
