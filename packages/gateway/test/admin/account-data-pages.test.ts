import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createBridgeAccountData, defaultBridgeConfig } from '@sallyport/bridge/server';
import { systemClock, type AccountData } from '@sallyport/core';
import { createAuthorizationServer } from '@sallyport/oauth/server';
import {
  createBundleFiles,
  createFeedbackAccountData,
  createTelemetryAccountData,
  createTelemetryOrganizationData,
} from '@sallyport/telemetry/server';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbeddedStore } from '../../src/store/embedded/store.ts';
import { scratchDirectory } from '../store/scratch.ts';

/** A store with `sql` run on it: rows by the thousand, which acts would take long to make. */
async function storeWith(sql: string) {
  const directory = scratchDirectory();
  const path = join(directory, 'store.db');
  const store = await openEmbeddedStore({ path });
  onTestFinished(() => store.close());
  const db = new DatabaseSync(path);
  db.exec(`BEGIN; ${sql}; COMMIT`);
  onTestFinished(() => db.close());
  const count = (table: string, condition = 'TRUE') =>
    db.prepare(`SELECT count(*) AS count FROM ${table} WHERE ${condition}`).get()?.['count'];
  return { store, directory, count };
}

const numbers = (count: number) =>
  `WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${count})`;

async function countOf(items: AsyncIterable<object> | undefined): Promise<number> {
  const seen = new Set<string>();
  for await (const item of items ?? []) seen.add(JSON.stringify(item));
  return seen.size;
}

async function exported(data: Pick<AccountData, 'export'>, accountId: string) {
  const sections = Object.entries(data.export(accountId));
  const counted = await Promise.all(
    sections.map(async ([name, items]) => [name, await countOf(items)] as const),
  );
  return Object.fromEntries(counted);
}

test('telemetry of many spans is exported once each, and erased without a record of anybody else', async () => {
  // Every third block is the account's; a span without any is in between. Each has two records.
  const { store, count } = await storeWith(
    `INSERT INTO telemetry_block ${numbers(17_000)}
     SELECT 2 * n, 2, 'o', iif(n % 3 = 0 AND n NOT BETWEEN 5000 AND 11000, 'mine', 'yours'), n, NULL, 'groups', 1, NULL, NULL,
       CAST('[{"serviceName":"s","resource":null,"scopes":[{"scope":null,"records":[{"timeUnixNano":"' || n ||
         '0","attributes":[],"body":null,"severityText":""},{"timeUnixNano":"' || n ||
         '1","attributes":[],"body":null,"severityText":""}]}]}]' AS BLOB) FROM number`,
  );
  const mine = 2 * Number(count('telemetry_block', "account_id = 'mine'"));
  const yours = Number(count('telemetry_block', "account_id = 'yours'"));
  const data = createTelemetryAccountData(store.telemetry);
  expect(await exported(data, 'mine')).toEqual({ telemetry: mine });
  expect(await data.erase('mine')).toEqual({ telemetry: mine });
  expect(await exported(data, 'mine')).toEqual({ telemetry: 0 });
  expect(count('telemetry_block')).toBe(yours);
  expect(await data.erase('mine')).toEqual({ telemetry: 0 });
});

test('environments, sessions and feedback of many pages are exported and erased, and no others', async () => {
  const { store, directory, count } = await storeWith(
    ['mine', 'yours']
      .map(
        (of) => `
      INSERT INTO environment (id, organization_id, account_id, machine_name, directory, metadata, created_at, updated_at)
        ${numbers(250)} SELECT 'env_${of}' || n, 'o', '${of}', 'm', '/', '{}', 1, 1 FROM number;
      INSERT INTO session (id, organization_id, account_id, environment_id, work_id, title, tags, context, created_at, updated_at)
        ${numbers(250)} SELECT 's_${of}' || n, iif(n % 2, 'o', 'p'), '${of}', 'env_yours1', 'w_${of}' || n, '', '[]', '{}', 1, 1 FROM number;
      INSERT INTO work (id, environment_id, session_id, type, state, created_at)
        ${numbers(250)} SELECT 'w_${of}' || n, 'env_yours1', 's_${of}' || n, 'session', 'done', 1 FROM number;
      INSERT INTO session_event (session_id, seq, id, type, origin, account_id, data, created_at)
        ${numbers(2500)} SELECT 's_${of}1', n, n, 'x', 'client', iif(n % 2, 'mine', 'yours'), '{}', 1 FROM number;
      INSERT INTO feedback_bundle ${numbers(150)} SELECT 'fb_${of}' || n, 'o', '${of}', 1, '', '', 1, 1, '' FROM number`,
      )
      .join(';'),
  );
  const bridge = createBridgeAccountData({
    store: store.bridge,
    accounts: { emails: () => Promise.resolve(new Map()) },
    clock: systemClock,
    config: defaultBridgeConfig,
  });
  const feedback = createFeedbackAccountData(store.feedback, createBundleFiles(directory));
  expect(await exported(bridge, 'mine')).toEqual({
    environments: 250,
    sessions: 250 + 2500,
    events: 2500,
  });
  expect(await exported(feedback, 'mine')).toEqual({ feedback: 150 });
  expect(await bridge.erase('mine')).toEqual({ environments: 250, sessions: 250, events: 1250 });
  expect(count('session_event', "account_id = 'mine'")).toBe(0);
  expect(await feedback.erase('mine')).toEqual({ feedback: 150 });
  expect(
    ['environment', 'session', 'work', 'session_event', 'feedback_bundle'].map((table) => count(table)),
  ).toEqual([250, 250, 250, 2500, 150]);
});

test("an account's credentials and audit entries of many pages are exported once each", async () => {
  const { store } = await storeWith(
    `INSERT INTO account (id, email, password_hash, created_at) VALUES ('mine', 'mine@example.com', NULL, 1);
     INSERT INTO account_session (id, hash, account_id, created_at, expires_at)
       ${numbers(1200)} SELECT 'x' || n, 'h' || n, 'mine', 1, 2 FROM number;
     INSERT INTO audit_entry (at, action, outcome, actor_type, actor_id, account_id, details)
       ${numbers(2400)} SELECT n, 'sign_in', 'done', 'account', iif(n % 2, 'mine', 'other'), iif(n % 3, 'mine', 'other'), '{}'
       FROM number`,
  );
  const { accountData } = await createAuthorizationServer({
    store: store.oauth,
    issuer: 'http://127.0.0.1:8787',
  });
  // By it, to it, or both: all but a sixth.
  expect(await exported(accountData, 'mine')).toMatchObject({ sign_ins: 1200, audit: 2000 });
});

test('telemetry of an organization is deleted in bounded acts, without a record of any other', async () => {
  const { store, count } = await storeWith(
    `INSERT INTO telemetry_block ${numbers(7000)}
     SELECT n, 2, iif(n % 4 = 0, 'stays', 'goes'), 'a', n, NULL, 'groups', 1, NULL, NULL, CAST('[]' AS BLOB) FROM number;
     INSERT INTO telemetry_idempotency VALUES (1, 'a', 'goes', 'k', 'f', 1), (2, 'a', 'stays', 'k', 'f', 1)`,
  );
  const acts: number[] = [];
  const data = createTelemetryOrganizationData({
    async deleteOrganizationRecords(argument) {
      const done = await store.telemetry.deleteOrganizationRecords(argument);
      acts.push(done.deleted);
      return done;
    },
  });
  expect(await data.erase('goes')).toEqual({ telemetry: 10_500 });
  expect(acts).toEqual([5000, 5000, 500]);
  expect([count('telemetry_block'), count('telemetry_idempotency')]).toEqual([1750, 1]);
});
