import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { streamSession } from '@sallyport/core/client';
import { firstPartyClient } from '@sallyport/core/contract';
import { expect, test } from 'vitest';
import { adminCommand } from './command.ts';
import { openWorld, type Json } from './data-world.ts';

test('an account is exported whole, and erased whole, beside a gateway that runs', async () => {
  const world = await openWorld();
  const { dataDir, rows, work } = world;
  const eve = await work('eve@example.com', 'EVE-MARK');
  const kept = await work('kept@example.com', 'KEPT-MARK');
  const admin = (...args: readonly string[]) => adminCommand(dataDir, ...args);
  const marked = (text: string) => rows().filter(({ row }) => JSON.stringify(row).includes(text));

  const { stdout, failed } = await admin('user', 'export', 'eve@example.com');
  expect(failed).toBe(undefined);
  const exported = JSON.parse(stdout) as Json;
  expect(exported).toMatchObject({
    account: { id: eve.id, email: 'eve@example.com' },
    memberships: [{ organization: { id: eve.organizationId }, role: 'member' }],
    sign_ins: [{}],
    logins: [{ client_id: firstPartyClient.id, revoked_at: null }],
    api_keys: [{ name: 'EVE-MARK key' }],
    trusted_devices: [{ display_name: 'EVE-MARK laptop' }],
    environments: [{ machine_name: 'EVE-MARK machine' }],
    sessions: expect.arrayContaining([
      { session: expect.objectContaining({ title: 'EVE-MARK title' }) as unknown },
      { event: expect.objectContaining({ data: { text: 'EVE-MARK said' } }) as unknown },
    ]) as unknown,
    events: [
      expect.objectContaining({
        data: { text: 'EVE-MARK said' },
        account: { id: eve.id, email: eve.email },
      }) as unknown,
    ],
    telemetry: [{ body: { stringValue: 'EVE-MARK sent' } }],
    feedback: [{ description: 'EVE-MARK complains' }],
    audit: expect.arrayContaining([expect.objectContaining({ action: 'login.begin' })]) as unknown,
  });
  expect(stdout).not.toContain('KEPT-MARK');
  // No secret is in it: nothing that the store knows as a hash, a key or a password.
  for (const { row } of rows())
    for (const name of ['hash', 'password_hash', 'private_jwk', 'value', 'fingerprint', 'challenge'])
      if (typeof row[name] === 'string') expect(stdout).not.toContain(row[name]);
  // Each place that has something of the account is in this test, or it would prove nothing.
  const before = marked(kept.mark).map(({ table }) => table);
  expect(new Set(marked('EVE-MARK').map(({ table }) => table))).toEqual(
    new Set([
      'api_key',
      'audit_entry',
      'environment',
      'feedback_bundle',
      'session',
      'session_event',
      'telemetry_block',
      'telemetry_idempotency',
      'trusted_device',
    ]),
  );

  expect((await admin('user', 'erase', 'eve@example.com')).failed).toEqual([
    2,
    expect.stringContaining('--yes') as unknown,
  ]);
  expect(marked('EVE-MARK').length).toBeGreaterThan(0);

  const erased = await admin('user', 'erase', 'eve@example.com', '--yes');
  expect(erased.failed).toBe(undefined);
  expect(JSON.parse(erased.stdout)).toEqual({
    id: eve.id,
    email: 'eve@example.com',
    erased: {
      environments: 1,
      sessions: 1,
      events: 0,
      telemetry: 1,
      telemetry_waiting: 0,
      telemetry_dead_letters: 0,
      feedback: 1,
    },
  });
  expect(marked('EVE-MARK')).toEqual([]);
  expect(marked('eve@example.com')).toEqual([]);
  // What is left of it is its id in the audit log, whose acts stay.
  const left = marked(eve.id);
  expect(new Set(left.map(({ table }) => table))).toEqual(new Set(['audit_entry', 'audit_view']));
  for (const { row } of left.filter(({ row }) => row['actor_id'] === eve.id && 'address' in row))
    expect(row['address']).toBe(null);
  expect(left.map(({ row }) => row['action'])).toEqual(
    expect.arrayContaining([
      'login.begin',
      'api_key.add',
      'account.export',
      'account.close',
      'account.erase',
    ]),
  );
  expect(marked(kept.mark).map(({ table }) => table)).toEqual(before);
  expect(readdirSync(join(dataDir, 'feedback')).filter((name) => name.endsWith('.zip'))).toHaveLength(1);

  await expect(eve.client.oauth.profile()).rejects.toMatchObject({ status: 401 });
  expect(await kept.client.oauth.profile()).toMatchObject({ account: { email: 'kept@example.com' } });
  const { stdout: audit } = await admin('audit', '--json', '--action', 'account.erase');
  expect(JSON.parse(audit)).toMatchObject([
    { action: 'account.erase', actor: { type: 'operator' }, account: { id: eve.id, email: null } },
  ]);
  const byKept = await admin('audit', '--actor', 'kept@example.com', '--since', '1h', '--limit', '3');
  const by = { actor: { email: 'kept@example.com' } };
  expect(JSON.parse(byKept.stdout)).toMatchObject([by, by, by]);
  expect((await admin('audit', '--actor', 'nobody@example.com')).failed).toEqual([
    1,
    expect.stringContaining('There is no account nobody@example.com') as unknown,
  ]);
  expect((await admin('audit', '--action', 'sign.in')).failed).toEqual([
    2,
    expect.stringContaining('Did you mean sign_in?') as unknown,
  ]);
  expect((await admin('audit', '--since', 'then')).failed?.[0]).toBe(2);
});

test('what an account sent to sessions of others is exported with it, and stays there without its sender', async () => {
  const { dataDir, work } = await openWorld();
  const eve = await work('eve@example.com', 'EVE-MARK');
  const kept = await work('kept@example.com', 'KEPT-MARK');
  const admin = (...args: readonly string[]) => adminCommand(dataDir, ...args);
  const session = (await kept.client.sessions.list()).find(({ account }) => account?.id === kept.id);
  const id = session?.id ?? '';
  const event = { type: 'session.message', data: { text: 'eve was here' } };
  await eve.client.sessions.append({ params: { id }, body: { events: [event] } });

  const exported = JSON.parse((await admin('user', 'export', 'eve@example.com')).stdout) as Json;
  const account = { id: eve.id, email: eve.email };
  expect(exported['events']).toMatchObject([
    { data: { text: 'EVE-MARK said' }, account },
    { session_id: id, data: { text: 'eve was here' }, account },
  ]);
  // Hers are in the session of whom it is, too, as everybody reads it there.
  const others = JSON.parse((await admin('user', 'export', 'kept@example.com')).stdout) as Json;
  expect(others['sessions']).toContainEqual({
    event: expect.objectContaining({ data: { text: 'eve was here' }, account }) as unknown,
  });

  const erased = await admin('user', 'erase', 'eve@example.com', '--yes');
  expect(JSON.parse(erased.stdout)).toMatchObject({ erased: { sessions: 1, events: 1 } });
  const read: unknown[] = [];
  for await (const frame of streamSession(kept.clientOptions, id)) {
    if (frame.kind !== 'event') break;
    read.push([frame.event.data['text'], frame.event.account]);
  }
  expect(read).toEqual([
    ['KEPT-MARK said', { id: kept.id, email: kept.email }],
    ['eve was here', undefined],
  ]);
});
