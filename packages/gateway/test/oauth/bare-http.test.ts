import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '@sallyport/core/testing';
import { createAuthorizationServer } from '@sallyport/oauth/server';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import { allowInsecureRequests } from 'oauth4webapi';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbeddedStore } from '../../src/store/embedded/store.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { clientId } from './open-server.ts';

const gatewayFolder = join(import.meta.dirname, '../..');
const readme = readFileSync(join(gatewayFolder, '../oauth/README.md'), 'utf8');

/** The README's server, in a process of its own. */
async function runExample(database: string): Promise<string> {
  const [, program = ''] = /```ts\n(import \{ createServer.*?)```/s.exec(readme) ?? [];
  const child = spawn(process.execPath, ['-C', '@sallyport/source', '--input-type=module-typescript', '-'], {
    cwd: gatewayFolder,
    env: { ...process.env, PORT: String(await freePort()), DATABASE: database },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    child.kill();
    await once(child, 'exit');
  });
  child.stdin.on('error', () => undefined).end(program); // why it ended before is on its stderr
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return /http:\S+/.exec(line.toString())?.[0] ?? '';
}

/** What the application's own pages would do for a signed-in person. */
async function approve(database: string, issuer: string, userCode: string): Promise<void> {
  const store = await openEmbeddedStore({ path: database, migrate: false });
  try {
    const server = await createAuthorizationServer({ store: store.oauth, issuer });
    const { id: accountId } = await server.accounts.find();
    const [membership] = await server.organizations.of(accountId);
    const decision = { approve: true, organizationId: membership?.organization.id ?? '' };
    await server.deviceFlow.decide(userCode, { accountId, sessionId: 'page' }, '127.0.0.1', decision);
  } finally {
    await store.close();
  }
}

test("the README's server on bare node:http logs a device in, refreshes and revokes, for a standard client", async () => {
  const database = join(scratchDirectory(), 'oauth.db');
  const issuer = await runExample(database);
  const insecure = { [allowInsecureRequests]: true };
  const [client, none] = [{ client_id: clientId }, oauth.None()];
  const url = new URL(issuer);
  const found = await oauth.discoveryRequest(url, { ...insecure, algorithm: 'oauth2' });
  const server = await oauth.processDiscoveryResponse(url, found);

  const asked = await oauth.deviceAuthorizationRequest(server, client, none, {}, insecure);
  const device = await oauth.processDeviceAuthorizationResponse(server, client, asked);
  const poll = async () =>
    oauth.processDeviceCodeResponse(
      server,
      client,
      await oauth.deviceCodeGrantRequest(server, client, none, device.device_code, insecure),
    );
  await expect(poll()).rejects.toMatchObject({ error: 'authorization_pending' });
  await approve(database, issuer, device.user_code);
  const tokens = await poll();

  const keys = createRemoteJWKSet(new URL(server.jwks_uri ?? ''));
  const { payload } = await jwtVerify(tokens.access_token, keys, { issuer, audience: issuer, typ: 'at+jwt' });
  expect(payload['client_id']).toBe(clientId);

  const refresh = async (token = '') =>
    oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, none, token, insecure),
    );
  const renewed = await refresh(tokens.refresh_token);
  const revoked = await oauth.revocationRequest(server, client, none, renewed.refresh_token ?? '', insecure);
  await oauth.processRevocationResponse(revoked);
  await expect(refresh(renewed.refresh_token)).rejects.toMatchObject({ error: 'invalid_grant', status: 400 });

  const form = { method: 'POST', body: new URLSearchParams('client_id=a&client_id=b&grant_type=x') };
  const twice = await fetch(`${issuer}/v1/oauth/token`, form);
  expect([twice.status, await twice.json()]).toMatchObject([400, { error: 'invalid_request' }]);
  expect((await fetch(`${issuer}/else`)).status).toBe(404);
});
