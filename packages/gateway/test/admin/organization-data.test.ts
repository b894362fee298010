import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withAuthorizationServer } from '../../src/admin/authorization.ts';
import { adminCommand } from './command.ts';
import { openWorld, type Json } from './data-world.ts';

test('an organization is deleted whole, beside a gateway that runs; its people and the audit log stay', async () => {
  const { dataDir, rows, work } = await openWorld();
  const admin = (...args: readonly string[]) => adminCommand(dataDir, ...args);
  const { id: gone } = JSON.parse((await admin('org', 'add', 'Gone & Co')).stdout) as { id: string };
  await admin('org', 'settings', 'set', gone, 'a', '1');
  const eve = await work('eve@example.com', 'EVE-MARK', gone);
  const kept = await work('kept@example.com', 'KEPT-MARK');
  // Who is a member of both keeps the other one.
  await admin('user', 'role', 'kept@example.com', 'admin', '--org', gone);
  const marked = (text: string) => rows().filter(({ row }) => JSON.stringify(row).includes(text));
  const before = marked(kept.mark).map(({ table }) => table);

  expect((await admin('org', 'delete', gone)).failed).toEqual([
    2,
    expect.stringContaining('--yes') as unknown,
  ]);
  expect((await admin('org', 'delete', 'nothing', '--yes')).failed?.[1]).toContain('admin org list');
  expect(marked('EVE-MARK').length).toBeGreaterThan(0);

  const deleted = await admin('org', 'delete', 'Gone & Co', '--yes');
  expect(deleted.failed).toBe(undefined);
  expect(JSON.parse(deleted.stdout)).toEqual({
    id: gone,
    name: 'Gone & Co',
    deleted: true,
    erased: {
      ...{ environments: 1, sessions: 1, telemetry: 1, feedback: 1 },
      ...{ telemetry_waiting: 0, telemetry_dead_letters: 0 },
    },
  });
  // What is left is in the audit log, and that an environment of that id was deleted, for a day.
  const left = (text: string) => new Set(marked(text).map(({ table }) => table));
  expect(left(gone)).toEqual(new Set(['audit_entry', 'audit_view', 'deleted_environment', 'session_usage']));
  expect(left('EVE-MARK')).toEqual(new Set(['audit_entry']));
  expect(left('eve@example.com')).toEqual(new Set(['account']));
  expect(marked(kept.mark).map(({ table }) => table)).toEqual(before);
  expect(readdirSync(join(dataDir, 'feedback')).filter((name) => name.endsWith('.zip'))).toHaveLength(1);

  await expect(eve.client.oauth.profile()).rejects.toMatchObject({ status: 401 });
  await expect(eve.client.oauth.roles()).rejects.toMatchObject({ status: 401 });
  expect(await kept.client.oauth.profile()).toMatchObject({ account: { email: 'kept@example.com' } });
  const organizations = JSON.parse((await admin('org', 'list')).stdout) as Json[];
  expect(organizations.map(({ id }) => id)).toEqual([kept.organizationId]);
  for (const action of ['organization.close', 'organization.erase']) {
    const { stdout } = await admin('audit', '--json', '--action', action);
    expect(JSON.parse(stdout)).toMatchObject([{ action, actor: { type: 'operator' } }]);
    expect(stdout).toContain(gone);
  }

  expect((await admin('org', 'delete', kept.organizationId, '--yes')).failed).toEqual([
    expect.any(Number) as number,
    expect.stringContaining("the installation's first organization") as unknown,
  ]);
  expect(await kept.client.oauth.profile()).toMatchObject({ account: { email: 'kept@example.com' } });
});

test('a deletion that failed on its way is found and gone on with', async () => {
  const { dataDir, rows, work } = await openWorld();
  const admin = (...args: readonly string[]) => adminCommand(dataDir, ...args);
  const { id: gone } = JSON.parse((await admin('org', 'add', 'Gone')).stdout) as { id: string };
  const eve = await work('eve@example.com', 'EVE-MARK', gone);
  await withAuthorizationServer({ dataDir }, ({ organizationData }) => organizationData.close(gone));
  await expect(eve.client.sessions.list({})).rejects.toMatchObject({ status: 401 });
  expect((await admin('org', 'delete', 'Gone', '--yes')).failed).toBe(undefined);
  expect(
    rows().filter(({ table, row }) => table === 'session' && JSON.stringify(row).includes(gone)),
  ).toEqual([]);
});
