import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { zstdDecompressSync } from 'node:zlib';
import { firstPartyClient } from '@sallyport/core/contract';
import { createClient, undiciTransport } from '@sallyport/core/client';
import { zipOf } from '@sallyport/telemetry/testing';
import { expect, onTestFinished, test } from 'vitest';
import { withAuthorizationServer } from '../../src/admin/authorization.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/start.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { adminCommand } from './command.ts';

type Json = Record<string, unknown>;

const runner = { 'x-environment-runner-version': '1.0.0' };
const verifier = 'v'.repeat(43);

/** A gateway on a store of its own, in which `work` leaves something of an account in every place that there is. */
async function openWorld() {
  const dataDir = scratchDirectory();
  const { config } = loadConfig({ env: {}, flags: { port: 0, dataDir } });
  const gateway = await startGateway({ config });
  const transport = undiciTransport();
  onTestFinished(async () => {
    await gateway.close();
    await transport.close();
  });

  async function work(email: string, mark: string) {
    const account = await withAuthorizationServer({ dataDir }, async (server) => {
      const { id } = await server.accounts.add({ email });
      const [membership] = await server.organizations.of(id);
      const organizationId = membership?.organization.id ?? '';
      const session = await server.sessions.issue(id);
      const { redirect_uri: location } = await server.authorization.authorize(session, organizationId, {
        response_type: 'code',
        client_id: firstPartyClient.id,
        organization_uuid: organizationId,
        redirect_uri: 'http://127.0.0.1:1/callback',
        state: 'xyz',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      });
      return { id, organizationId, code: new URL(location).searchParams.get('code') ?? '' };
    });
    const client = (token: string) =>
      createClient({ baseUrl: gateway.url, transport, tokens: { token: () => Promise.resolve(token) } });
    const tokens = await client('').oauth.token({
      body: {
        grant_type: 'authorization_code',
        client_id: firstPartyClient.id,
        code: account.code,
        code_verifier: verifier,
        redirect_uri: 'http://127.0.0.1:1/callback',
      },
    });
    const mine = client(tokens.access_token);
    await mine.oauth.createApiKey({ body: { name: `${mark} key` } });
    const device = await mine.devices.trust({ body: { display_name: `${mark} laptop` } });
    const { environment_id } = await mine.bridge.register({
      headers: { ...runner, 'vendor-worker-id': 'w1', 'x-trusted-device-token': device },
      body: { machine_name: `${mark} machine`, directory: `/home/${mark}` },
    });
    await mine.sessions.create({
      headers: {
        ...runner,
        'vendor-client-feature': 'ccr',
        'x-organization-uuid': account.organizationId,
        'idempotency-key': mark,
      },
      body: {
        environment_id,
        title: `${mark} title`,
        events: [{ type: 'session.message', data: { text: `${mark} said` } }] as never,
      },
    });
    await mine.telemetry.batch({
      headers: { 'x-service-name': 'test', 'idempotency-key': mark },
      body: {
        events: [
          {
            timeUnixNano: '1',
            severityNumber: 9,
            severityText: 'INFO',
            body: { stringValue: `${mark} sent` },
          },
        ] as never,
      },
    });
    await mine.feedback.bundle({
      body: {
        description: `${mark} complains`,
        bundle: new File([zipOf({ name: 'log.txt', content: mark }) as Uint8Array<ArrayBuffer>], 'b.zip'),
      },
    });
    return { ...account, email, mark, client: mine };
  }

  /** Every row of every table, as text. */
  function rows(): { table: string; row: Json }[] {
    const db = new DatabaseSync(join(dataDir, 'sallyport.db'), { readOnly: true });
    try {
      const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
      return tables.flatMap(({ name }) =>
        db
          .prepare(`SELECT * FROM "${String(name)}"`)
          .all()
          .map((row) => ({ table: String(name), row: legible(row) })),
      );
    } finally {
      db.close();
    }
  }
  return { dataDir, gateway, work, rows };
}

/** Text in a BLOB is text, compressed or not. */
function legible(row: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof Uint8Array
        ? Buffer.from(row['compression'] ? zstdDecompressSync(value) : value).toString()
        : value,
    ]),
  );
}

test(
  'an account is exported whole, and erased whole, beside a gateway that runs',
  { timeout: 30_000 },
  async () => {
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
      erased: { environments: 1, sessions: 1, telemetry: 1, feedback: 1 },
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
    expect(byKept.stdout).toMatch(/^(\S+Z {2}[\w.]+ {2}by kept@example\.com .*\n){3}$/);
    expect((await admin('audit', '--action', 'sign.in')).failed).toEqual([
      2,
      expect.stringContaining('Did you mean sign_in?') as unknown,
    ]);
    expect((await admin('audit', '--since', 'then')).failed?.[0]).toBe(2);
  },
);
