import { once } from 'node:events';
import { createClient, undiciTransport } from '@sallyport/core/client';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { withAuthorizationServer } from '../../src/admin/authorization.ts';
import { loadConfig } from '../../src/config/load.ts';
import { startGateway } from '../../src/start.ts';
import { adminCommand } from '../admin/command.ts';
import { scratchDirectory } from '../store/scratch.ts';
import { callback, clientId, codeRequest, verifier } from './open-server.ts';

const runner = { 'x-environment-runner-version': '1', 'vendor-worker-id': 'w' };
const email = 'ann@example.com';

/** A gateway as it is run, with somebody who is logged in, and has one open stream of each kind. */
async function openWork() {
  const dataDir = scratchDirectory();
  const gateway = await startGateway({ config: loadConfig({ env: {}, flags: { port: 0, dataDir } }).config });
  const transport = undiciTransport();
  onTestFinished(async () => {
    await gateway.close();
    await transport.close();
  });
  const { url } = gateway;
  const clientOf = (token: string) =>
    createClient({ baseUrl: url, transport, tokens: { token: () => Promise.resolve(token) } });

  const { sessionKey, organizationId } = await withAuthorizationServer({ dataDir }, async (server) => {
    const { id } = await server.accounts.add({ email });
    const [membership] = await server.organizations.of(id);
    return {
      sessionKey: (await server.sessions.issue(id)).sessionKey,
      organizationId: membership?.organization.id ?? '',
    };
  });
  const { redirect_uri: location } = await clientOf(sessionKey).oauth.authorize({
    params: { org_uuid: organizationId },
    body: codeRequest(organizationId),
  });
  const login = await clientOf(sessionKey).oauth.token({
    body: {
      grant_type: 'authorization_code',
      client_id: clientId,
      code: new URL(location).searchParams.get('code') ?? '',
      code_verifier: verifier,
      redirect_uri: callback,
    },
  });

  const client = clientOf(login.access_token);
  const device = await client.devices.trust({ body: { display_name: 'laptop' } });
  const { environment_id: env } = await client.bridge.register({
    headers: { ...runner, 'x-trusted-device-token': device },
    body: { machine_name: 'm', directory: '/d' },
  });
  const session = await client.sessions.create({
    headers: { ...runner, 'vendor-client-feature': 'ccr', 'x-organization-uuid': organizationId },
    body: { environment_id: env },
  });
  await client.bridge.poll({ params: { env_id: env } });
  await client.bridge.ack({ params: { env_id: env, work_id: session.work_id } });
  const { worker_jwt: jwt } = await client.worker.bridge({ params: { id: session.id } });

  const bearer = { authorization: `Bearer ${login.access_token}` };
  const [worker, hints, followed] = await Promise.all([
    openSocket(url, `/v1/code/sessions/${session.id}/worker/events/stream`, {
      authorization: `Bearer ${jwt}`,
      'vendor-version': '2023-06-01',
    }),
    openSocket(url, `/v1/environments/${env}/bridge/ws`, bearer),
    fetch(`${url}/v1/sessions/${session.id}/events/stream?beta=true`, { headers: bearer }),
  ]);
  /** The same program by another of the login's tokens. */
  async function renewed() {
    const { access_token: token } = await client.oauth.token({
      body: { grant_type: 'refresh_token', client_id: clientId, refresh_token: login.refresh_token ?? '' },
    });
    const headers = { authorization: `Bearer ${token}` };
    const socket = await openSocket(url, `/v1/environments/${env}/bridge/ws`, headers);
    return { client: clientOf(token), ...socket };
  }
  return { dataDir, client, clientOf, login, renewed, session, jwt, worker, hints, followed };
}

/** Tells the code that an open WebSocket is closed with. */
async function openSocket(url: string, path: string, headers: Record<string, string>) {
  const socket = new WebSocket(url.replace('http', 'ws') + path, { headers });
  await once(socket, 'open');
  const closed = once(socket, 'close') as Promise<[number, Buffer]>;
  return {
    code: closed.then(([code]) => code),
    /** Whether the service answers on it still. */
    isOpen: () => {
      socket.ping();
      return Promise.race([once(socket, 'pong').then(() => true), closed.then(() => false)]);
    },
  };
}

test.each<[string, (work: Awaited<ReturnType<typeof openWork>>) => Promise<unknown>]>([
  [
    'a logout',
    ({ client, login }) =>
      client.oauth.revoke({ body: { client_id: clientId, token: login.refresh_token ?? '' } }),
  ],
  [
    'an administrator, in a process of its own,',
    ({ dataDir }) =>
      withAuthorizationServer({ dataDir }, async ({ accounts, members }) =>
        members.remove((await accounts.find(email)).id),
      ),
  ],
  [
    'the command that revokes a login',
    async ({ dataDir }) => {
      const { stdout } = await adminCommand(dataDir, 'login', 'list');
      const [login] = JSON.parse(stdout) as { readonly id: string }[];
      await adminCommand(dataDir, 'login', 'revoke', login?.id ?? '');
    },
  ],
])('%s ends every open stream within 5 seconds, and the worker token', async (_case, revoke) => {
  const work = await openWork();
  const { worker, hints, followed, clientOf, jwt, session } = work;
  const began = performance.now();
  await revoke(work);
  expect(await Promise.all([worker.code, hints.code])).toEqual([4403, 4403]);
  expect(await followed.text()).toMatch(/: revoked\n\n$/);
  expect(performance.now() - began).toBeLessThan(5000);
  const register = clientOf(jwt).worker.register({ params: { id: session.id }, bearer: jwt });
  await expect(register).rejects.toMatchObject({ status: 401, code: 'invalid_token' });
});

test('who may no longer write keeps the streams to read by, and neither a worker nor its token', async () => {
  const { dataDir, client, clientOf, jwt, session, worker, hints, followed } = await openWork();
  await withAuthorizationServer({ dataDir }, async ({ accounts, organizations, members }) => {
    const { id } = await accounts.find(email);
    const [membership] = await organizations.of(id);
    await members.changeRole(id, membership?.organization.id ?? '', 'viewer');
  });
  expect(await Promise.all([worker.code, hints.code])).toEqual([4403, 4403]);
  const asWorker = clientOf(jwt);
  const params = { id: session.id };
  for (const call of [
    () => asWorker.worker.register({ params, bearer: jwt }),
    () => asWorker.worker.events({ params, bearer: jwt, body: { events: [] } }),
  ])
    await expect(call()).rejects.toMatchObject({ status: 401, code: 'invalid_token' });
  const again = client.worker.bridge({ params });
  await expect(again).rejects.toMatchObject({ status: 403, code: 'forbidden' });
  const reader = followed.body?.getReader();
  const read = async () => (await reader?.read())?.done;
  expect(await read()).toBe(false);
  await reader?.cancel();
});

test('one access token that is revoked ends what was opened with it, and nothing else (RFC 7009)', async () => {
  const { client, clientOf, login, renewed, worker, hints, followed } = await openWork();
  const beside = await renewed();
  await client.oauth.revoke({ body: { client_id: clientId, token: login.access_token } });
  expect(await hints.code).toBe(4403);
  expect(await followed.text()).toMatch(/: revoked\n\n$/);
  // The login, and what stands on it or on another of its tokens, goes on.
  expect(await beside.isOpen()).toBe(true);
  expect(await worker.isOpen()).toBe(true);
  expect((await beside.client.sessions.list({})).length).toBe(1);
  await expect(clientOf(login.access_token).sessions.list({})).rejects.toMatchObject({ status: 401 });
});
