import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { endpoints, firstPartyClient } from '@sallyport/core/contract';
import { zipOf } from '@sallyport/telemetry/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { withAuthorizationServer } from '../../src/admin/authorization.ts';
import { startFront } from '../passthrough/front-process.ts';
import { scratchDirectory } from './scratch.ts';

// A disk takes nothing more: here a limit on the length of files stands for it. What is refused says when to come again,
// nothing that was acknowledged is lost, whoever reads goes on, and room is used as soon as it is there.

vi.setConfig({ testTimeout: 60_000 });

const betas = [...new Set(Object.values(endpoints).flatMap(({ beta }) => beta ?? []))];
const verifier = 'v'.repeat(43);
const client = {
  client_id: firstPartyClient.id,
  redirect_uri: 'http://127.0.0.1:1/callback',
};

/** Nothing that could be made smaller. */
const noise = () => randomBytes(9000).toString('base64');

/** A code of the owner, and an API key. */
function credentialsIn(dataDir: string) {
  return withAuthorizationServer(
    { dataDir },
    async (server) => {
      const { id: accountId } = await server.accounts.find();
      const [membership] = await server.organizations.of(accountId);
      const organizationId = membership?.organization.id ?? '';
      const { redirect_uri: location } = await server.authorization.authorize(
        await server.sessions.issue(accountId),
        organizationId,
        {
          ...client,
          response_type: 'code',
          organization_uuid: organizationId,
          state: 'xyz',
          code_challenge: createHash('sha256').update(verifier).digest('base64url'),
          code_challenge_method: 'S256',
        },
      );
      const caller = { accountId, organizationId, scopes: ['profile', 'vendor_api'], isApiKey: false };
      return {
        organizationId,
        code: new URL(location).searchParams.get('code') ?? '',
        key: await server.apiKeys.create(caller, { name: 'test' }),
      };
    },
    { mayMake: true },
  );
}

test('a full disk: every area refuses what it would have to write, reads go on, and room is used without a restart', async () => {
  const directory = scratchDirectory();
  const { organizationId, code, key } = await credentialsIn(directory);
  const front = await startFront({ 'data-dir': directory, port: '0' }, { fileBytes: 4 * 1024 * 1024 });
  onTestFinished(() => front.close());

  const call = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    fetch(front.url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'x-environment-runner-version': '1.0.0',
        'vendor-beta': betas.join(),
        ...(body && !(body instanceof FormData) && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
  const json = async (response: Response) => {
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Record<string, string>;
  };
  const token = (body: object) => call('POST', '/v1/oauth/token', { client_id: client.client_id, ...body });
  let { refresh_token } = await json(
    await token({ ...client, grant_type: 'authorization_code', code, code_verifier: verifier }),
  );
  const device = await (await call('POST', '/api/auth/trusted_devices', { display_name: 'd' })).text();
  const { environment_id } = await json(
    await call(
      'POST',
      '/v1/environments/bridge',
      { machine_name: 'm', directory: '/' },
      { 'vendor-worker-id': 'w', 'x-trusted-device-token': device },
    ),
  );
  const creation = { 'vendor-client-feature': 'ccr', 'x-organization-uuid': organizationId };
  const newSession = () => call('POST', '/v1/sessions', { environment_id, title: 't', events: [] }, creation);
  const { id } = await json(await newSession());
  const sent: string[] = [];
  async function addEvent(): Promise<Response> {
    const event = {
      id: `e-${randomBytes(8).toString('hex')}`,
      type: 'session.message',
      data: { text: noise() },
    };
    const response = await call('POST', `/v1/sessions/${id}/events`, { events: [event] });
    if (response.ok) sent.push(event.id);
    return response;
  }
  const acts: Readonly<Record<string, () => Promise<Response>>> = {
    events: addEvent,
    session: newSession,
    refresh: async () => {
      const response = await token({ grant_type: 'refresh_token', refresh_token });
      if (response.ok) refresh_token = (await json(response.clone()))['refresh_token'];
      return response;
    },
    device: () => call('POST', '/api/auth/trusted_devices', { display_name: 'd' }),
    batch: () =>
      call(
        'POST',
        '/api/event_logging/v2/batch',
        { events: [{ severityNumber: 9, body: { stringValue: noise() } }] },
        { 'x-service-name': 'test' },
      ),
    logs: () =>
      call('POST', '/v1/logs', {
        resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: noise() } }] }] }],
      }),
    feedback: () => {
      const form = new FormData();
      form.append('description', 'it is full');
      const zip = zipOf({ name: 'log.txt', content: 'x' }) as Uint8Array<ArrayBuffer>;
      form.append('bundle', new File([zip], 'b.zip'));
      return call('POST', '/api/agent_cli_feedback/bundle', form);
    },
  };

  /** What each of them is answered, and when to come again. */
  const outcomes = async () => {
    const all: [string, number, string | null][] = [];
    for (const [name, act] of Object.entries(acts)) {
      const { status, headers } = await act();
      all.push([name, status, headers.get('retry-after')]);
    }
    return all;
  };
  const taken = Object.keys(acts).map((name) => [name, 200, null]);

  expect(await outcomes()).toEqual(taken);
  // What is small finds room for a while where what is large does not.
  let answers: Awaited<ReturnType<typeof outcomes>>;
  do {
    while ((await addEvent()).ok);
    answers = await outcomes();
  } while (answers.some(([, status]) => status === 200));
  expect(sent.length).toBeGreaterThan(50);
  // A batch's row has 429 for it, after which its clients come again.
  expect(answers).toEqual(Object.keys(acts).map((name) => [name, name === 'batch' ? 429 : 503, '1']));
  const read = (path: string) => call('GET', path);
  for (const path of ['/healthz', '/api/bootstrap', '/api/oauth/profile', `/v1/sessions/${id}`])
    expect((await read(path)).status).toBe(200);
  expect(await (await read('/v1/logs')).json()).not.toHaveLength(0);
  // Whatever is small and finds room in between makes it well again.
  const readiness = async () => (await acts['logs']?.(), (await read('/readyz')).status);
  await expect.poll(readiness, { timeout: 30_000 }).toBe(503);

  front.giveRoom();
  expect(await outcomes()).toEqual(taken);
  expect([front.isAlive(), (await read('/readyz')).status]).toEqual([true, 200]);
  await front.close();
  const db = new DatabaseSync(join(directory, 'sallyport.db'), { readOnly: true });
  onTestFinished(() => db.close());
  const stored = db.prepare(
    "SELECT id FROM session_event WHERE session_id = ? AND id LIKE 'e-%' ORDER BY seq",
  );
  expect(stored.all(id ?? '').map((event) => event['id'])).toEqual(sent);
  expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
});
