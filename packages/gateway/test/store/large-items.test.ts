import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { partBytes } from '@sallyport/core';
import { endpoints, type Endpoint } from '@sallyport/core/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { things } from '../rights/things.ts';
import { openWorld, type Answer, type World } from '../rights/world.ts';

// A page is bounded by bytes as by number, whatever a list is of: here every list of the contract has items of which five are
// more than a page, in texts of one to four bytes a character.

let world: World;
let db: DatabaseSync;
beforeAll(async () => {
  world = await openWorld();
  db = new DatabaseSync(join(world.dataDir, 'sallyport.db'));
  db.exec('PRAGMA foreign_keys = OFF');
});
afterAll(async () => {
  db.close();
  await world.close();
});

const itemBytes = 240_000;
const count = 9;
const scripts = ['a', 'ж', 'あ', '𐍈'];

function large(n: number): string {
  const letter = scripts[n % scripts.length] ?? '';
  return letter.repeat(itemBytes / Buffer.byteLength(letter));
}

/** Adds rows like the one that is there. */
function clone(table: string, where: string, change: (n: number) => Record<string, SQLInputValue>): void {
  const row = db.prepare(`SELECT * FROM ${table} WHERE ${where} LIMIT 1`).get();
  if (!row) throw new Error(`There is no ${table} where ${where}.`);
  for (let n = 0; n < count; n += 1) {
    const next = { ...row, ...change(n) };
    const names = Object.keys(next);
    db.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`).run(
      ...Object.values(next),
    );
  }
}

const named = (column: string) => (n: number) => ({
  id: randomUUID(),
  hash: randomUUID(),
  [column]: large(n),
});

/** Makes the items of each list. */
const made: Readonly<Record<string, () => Promise<void>>> = {
  async 'environments.list'() {
    const { params } = await things.managedEnvironment(world);
    const change = (n: number) => ({ id: `env_${n}`, metadata: JSON.stringify({ note: large(n) }) });
    clone('environment', `id = '${params.env_id}'`, change);
  },
  async 'bridge.list'() {
    const { params } = await things.environment(world);
    const change = (n: number) => ({ id: `env_b${n}`, metadata: JSON.stringify({ note: large(n) }) });
    clone('environment', `id = '${params.env_id}'`, change);
    clone('bridge_registration', `environment_id = '${params.env_id}'`, (n) => ({
      environment_id: `env_b${n}`,
      worker_type: 'cowork',
    }));
  },
  async 'sessions.list'() {
    const { params } = await things.session(world);
    const change = (n: number) => ({ id: `session_${n}`, work_id: `work_${n}`, title: large(n) });
    clone('session', `id = '${params.id}'`, change);
    clone('work', `session_id = '${params.id}'`, (n) => ({ id: `work_${n}`, session_id: `session_${n}` }));
  },
  async 'telemetry.query'() {
    for (let n = 0; n < count; n += 1) await things.logRecord(world, large(n));
  },
  async 'admin.listPeople'() {
    const { accountId } = world.person('holder');
    clone('account', `id = '${accountId}'`, (n) => ({ id: `account_${n}`, email: `${large(n)}${n}` }));
    clone('membership', `account_id = '${accountId}'`, (n) => ({ account_id: `account_${n}` }));
  },
  async 'admin.listApiKeys'() {
    const { params } = await things.apiKey(world);
    clone('api_key', `id = '${params.key_id}'`, named('name'));
  },
  async 'admin.listDevices'() {
    const { params } = await things.trustedDevice(world);
    clone('trusted_device', `id = '${params.device_id}'`, named('display_name'));
  },
  async 'admin.listLogins'() {
    const { params } = await things.listedLogin(world);
    const change = (n: number) => ({ id: randomUUID(), scope: large(n) });
    clone('oauth_family', `id = '${params.login_id}'`, change);
  },
  async 'admin.listSignIns'() {
    const { params } = await things.signIn(world);
    clone('account_session', `id = '${params.sign_in_id}'`, named('user_agent'));
  },
  async 'admin.listClients'() {
    clone('oauth_client', 'TRUE', (n) => ({ id: randomUUID(), name: large(n) }));
  },
  async 'admin.listAudit'() {
    const { id: last } = db.prepare('SELECT max(id) AS id FROM audit_entry').get() ?? {};
    const ofOrganization = `organization_id = '${world.organizationId}'`;
    const id = (n: number) => Number(last) + 1 + n;
    clone('audit_entry', ofOrganization, (n) => ({ id: id(n), details: JSON.stringify({ name: large(n) }) }));
    clone('audit_view', ofOrganization, (n) => ({ id: id(n) }));
  },
};

const isPaged = ({ responseHeaders }: Endpoint) => 'link' in (responseHeaders?.shape ?? {});
const lists = endpoints.filter(isPaged);

test('every list of the contract is walked here', () => {
  expect(lists.map(({ id }) => id).sort()).toEqual(Object.keys(made).sort());
});

test.each(lists)('$id: pages of large items', async (endpoint) => {
  await made[endpoint.id]?.();
  const seen = new Set<string>();
  let pages = 0;
  for (let query: string | undefined = '?limit=1000'; query !== undefined; pages += 1) {
    expect(pages).toBeLessThan(count);
    const { status, text, next }: Answer = await world.call(endpoint, world.person('admin').accessToken, {
      params: { org_uuid: world.organizationId },
      query,
    });
    expect(status, text.slice(0, 1000)).toBe(200);
    const body = JSON.parse(text) as object[] | { readonly environments: object[] };
    const items = (Array.isArray(body) ? body : body.environments).map((item) => JSON.stringify(item));
    expect(Buffer.byteLength(text)).toBeLessThan(partBytes + 1.1 * itemBytes);
    for (const item of items) {
      expect(seen.has(item)).toBe(false);
      seen.add(item);
    }
    query = next;
  }
  expect(seen.size).toBeGreaterThanOrEqual(count);
  expect(pages).toBeGreaterThan(1);
});
