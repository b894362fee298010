import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstPartyClient } from '@sallyport/core/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { withAuthorizationServer } from './admin/authorization.ts';
import { loadConfig } from './config/load.ts';
import { createLog } from './http/log.ts';
import { startGateway, type Gateway } from './start.ts';
import { workerTokenSeconds } from './worker-tokens.ts';

let directory: string;
beforeAll(() => void (directory = mkdtempSync(join(tmpdir(), 'sallyport-start-'))));
afterAll(() => rmSync(directory, { recursive: true }));

const start = (dataDir: string, log = createLog('silent')): Promise<Gateway> =>
  startGateway({
    log,
    config: loadConfig({
      env: {},
      // Worker tokens live longer than these.
      flags: { port: 0, dataDir: join(directory, dataDir), 'oauth.accessTokenSeconds': 600 },
    }).config,
  });

type Json = Record<string, unknown>;

async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Json> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`);
  return (
    answer.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : { text }
  ) as Json;
}

/** An access token of the owner, by session key and PKCE. */
async function accessToken(url: string, dataDir: string): Promise<string> {
  const { sessionKey: key } = await withAuthorizationServer(
    { dataDir: join(directory, dataDir) },
    async ({ accounts, sessions }) => sessions.issue((await accounts.find()).id),
  );
  const bootstrap = await fetch(`${url}/api/bootstrap`, { headers: { authorization: `Bearer ${key}` } });
  const { account } = (await bootstrap.json()) as {
    account: { memberships: { organization: { uuid: string } }[] };
  };
  const organization = account.memberships[0]?.organization.uuid ?? '';
  const verifier = 'v'.repeat(43);
  const redirectUri = 'http://127.0.0.1:1234/callback';
  const { redirect_uri: location } = await post(
    `${url}/v1/oauth/${organization}/authorize`,
    {
      response_type: 'code',
      client_id: firstPartyClient.id,
      organization_uuid: organization,
      redirect_uri: redirectUri,
      state: 's',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    },
    { authorization: `Bearer ${key}` },
  );
  const { access_token: token } = await post(`${url}/v1/oauth/token`, {
    grant_type: 'authorization_code',
    client_id: firstPartyClient.id,
    code: new URL(String(location)).searchParams.get('code'),
    code_verifier: verifier,
    redirect_uri: redirectUri,
  });
  return String(token);
}

test('the chosen port is in every address that is given out', async () => {
  const gateway = await start('addresses');
  const metadata = (await (
    await fetch(`${gateway.url}/.well-known/oauth-authorization-server`)
  ).json()) as Json;
  expect(metadata).toMatchObject({ issuer: gateway.url, token_endpoint: `${gateway.url}/v1/oauth/token` });
  expect(await gateway.services.setupLink()).toMatch(`${gateway.url}/setup?`);
  await gateway.close();
  await gateway.close();
});

test('a whole shift: sign-in, registration, work, stream; a stop answers polls and closes streams; a restart goes on', async () => {
  const gateway = await start('shift');
  const { url } = gateway;
  const bearer = { authorization: `Bearer ${await accessToken(url, 'shift')}` };
  const { text: device } = await post(`${url}/api/auth/trusted_devices`, { display_name: 'mine' }, bearer);
  const runner = { ...bearer, 'x-environment-runner-version': '1', 'vendor-worker-id': 'w' };
  const { environment_id: environment } = await post(
    `${url}/v1/environments/bridge`,
    { machine_name: 'm', directory: '/d' },
    { ...runner, 'x-trusted-device-token': String(device) },
  );
  const { organization } = (await (await fetch(`${url}/api/oauth/profile`, { headers: bearer })).json()) as {
    organization: { uuid: string };
  };
  const session = await post(
    `${url}/v1/sessions`,
    { environment_id: environment, events: [{ type: 'session.message', data: { text: 'go' } }] },
    {
      ...runner,
      'vendor-beta': 'ccr-byoc-2025-07-29',
      'vendor-client-feature': 'ccr',
      'x-organization-uuid': organization.uuid,
    },
  );
  const poll = async (blockMs: number) =>
    (
      await fetch(`${url}/v1/environments/${String(environment)}/work/poll?block_ms=${blockMs}`, {
        headers: runner,
      })
    ).json();
  const work = (await poll(0)) as { id: string; data: Json };
  expect(work.data).toEqual({ type: 'session', id: session['id'] });
  await post(`${url}/v1/environments/${String(environment)}/work/${work.id}/ack`, {}, runner);
  const { worker_jwt: jwt, api_base_url: base } = await post(
    `${url}/v1/code/sessions/${String(session['id'])}/bridge`,
    {},
    runner,
  );
  expect(base).toBe(url);
  const socket = new WebSocket(
    `${url.replace('http', 'ws')}/v1/code/sessions/${String(session['id'])}/worker/events/stream`,
    { headers: { authorization: `Bearer ${String(jwt)}`, 'vendor-version': '2023-06-01' } },
  );
  const [first] = (await once(socket, 'message')) as [Buffer];
  expect(JSON.parse(first.toString())).toMatchObject({
    seq: 1,
    type: 'session.message',
    data: { text: 'go' },
  });

  // A worker's newer poll ends its older one: whichever it is, the other one is held.
  const polls = [poll(60_000), poll(60_000)];
  expect(await Promise.race(polls)).toBeNull();
  const closed = once(socket, 'close') as Promise<[number]>;
  await gateway.close();
  expect(await Promise.all(polls)).toEqual([null, null]);
  expect((await closed)[0]).toBe(1012);

  const again = await start('shift');
  const seen = await fetch(`${again.url}/.well-known/jwks.json`);
  expect(((await seen.json()) as { keys: unknown[] }).keys).toHaveLength(1);
  await again.close();
});

test('a store that others may read, as one that was restored, is taken from them, and that is said', async () => {
  const dataDir = 'restored';
  await (await start(dataDir)).close();
  const store = join(directory, dataDir, 'sallyport.db');
  chmodSync(store, 0o644);
  const warnings: unknown[][] = [];
  const log = Object.assign(createLog('silent'), { warn: (...said: unknown[]) => void warnings.push(said) });
  const gateway = await start(dataDir, log);
  expect([store, `${store}-wal`].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
  expect(warnings[0]).toEqual([
    { file: store, found: '644' },
    'Others could read the store, where keys are: now this account alone can.',
  ]);
  await gateway.close();
});

test('an administrator rotates keys knowing of worker tokens, too', async () => {
  const flags = { dataDir: join(directory, 'keys'), set: { 'oauth.accessTokenSeconds': '600' } };
  const kind = { type: 'worker+jwt', audience: 'ingress', lifetimeSeconds: workerTokenSeconds };
  await withAuthorizationServer(flags, ({ signer }) => signer.sign({}, kind), { mayMake: true });
});
