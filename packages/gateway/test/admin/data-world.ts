import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { zstdDecompressSync } from 'node:zlib';
import { firstPartyClient } from '@sallyport/core/contract';
import { createClient, undiciTransport } from '@sallyport/core/client';
import { zipOf } from '@sallyport/telemetry/testing';
import { onTestFinished } from 'vitest';
import { withAuthorizationServer } from '../../src/admin/authorization.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/start.ts';
import { scratchDirectory } from '../store/scratch.ts';

export type Json = Record<string, unknown>;

const runner = { 'x-environment-runner-version': '1.0.0' };
const verifier = 'v'.repeat(43);

/** A gateway on a store of its own, in which `work` leaves something of an account in every place that there is. */
export async function openWorld() {
  const dataDir = scratchDirectory();
  const { config } = loadConfig({ env: {}, flags: { port: 0, dataDir } });
  const gateway = await startGateway({ config });
  const transport = undiciTransport();
  onTestFinished(async () => {
    await gateway.close();
    await transport.close();
  });

  async function work(email: string, mark: string, organizationId?: string) {
    const account = await withAuthorizationServer({ dataDir }, async (server) => {
      const { id } = await server.accounts.add({ email, ...(organizationId && { organizationId }) });
      const [membership] = await server.organizations.of(id);
      const own = membership?.organization.id ?? '';
      const session = await server.sessions.issue(id);
      const { redirect_uri: location } = await server.authorization.authorize(session, own, {
        response_type: 'code',
        client_id: firstPartyClient.id,
        organization_uuid: own,
        redirect_uri: 'http://127.0.0.1:1/callback',
        state: 'xyz',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      });
      return { id, organizationId: own, code: new URL(location).searchParams.get('code') ?? '' };
    });
    const optionsFor = (token: string) => ({
      baseUrl: gateway.url,
      transport,
      tokens: { token: () => Promise.resolve(token) },
    });
    const client = (token: string) => createClient(optionsFor(token));
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
    return { ...account, email, mark, client: mine, clientOptions: optionsFor(tokens.access_token) };
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
