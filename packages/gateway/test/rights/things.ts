import { randomUUID } from 'node:crypto';
import { contract } from '@sallyport/core/contract';
import { mark, type Party, type World } from './world.ts';

/** Something of the holder's that a row acts on, made anew for each that changes it. */
export interface Thing {
  /** What the row's path and body name it by. */
  readonly params: Readonly<Record<string, string>>;
  /** Tokens of workers, for the rows that workers call: the holder's is of this session, the others' of sessions of their own. */
  readonly workers?: Readonly<Partial<Record<Party, string>>>;
}

const runner = { 'x-environment-runner-version': '1', 'vendor-worker-id': 'w' };

async function register(world: World, party: Party): Promise<string> {
  const { accessToken, deviceToken } = world.person(party);
  const { environment_id: id } = await world.given<{ environment_id: string }>(
    contract.bridge.register,
    accessToken,
    {
      headers: { ...runner, 'x-trusted-device-token': deviceToken },
      body: { machine_name: mark, directory: `/${mark}/${randomUUID()}`, metadata: { note: mark } },
    },
  );
  return id;
}

async function createSession(world: World, party: Party, environmentId: string) {
  const { accessToken, organizationId } = world.person(party);
  return world.given<{ id: string; work_id: string }>(contract.sessions.create, accessToken, {
    headers: {
      ...runner,
      'vendor-client-feature': 'ccr',
      'x-organization-uuid': organizationId,
    },
    body: {
      environment_id: environmentId,
      title: mark,
      events: [{ type: 'session.message', data: { text: mark } }],
    },
  });
}

/** A session whose work was fetched, and acknowledged or not. */
async function takeWork(world: World, party: Party, isAcknowledged: boolean) {
  const environmentId = await register(world, party);
  const session = await createSession(world, party, environmentId);
  const { accessToken } = world.person(party);
  const params = { env_id: environmentId, work_id: session.work_id };
  await world.given(contract.bridge.poll, accessToken, { params, headers: runner });
  if (isAcknowledged) await world.given(contract.bridge.ack, accessToken, { params, headers: runner });
  return { ...params, id: session.id };
}

async function worker(world: World, party: Party) {
  const params = await takeWork(world, party, true);
  const { worker_jwt: token } = await world.given<{ worker_jwt: string }>(
    contract.worker.bridge,
    world.person(party).accessToken,
    { params, headers: runner },
  );
  return { params, token };
}

export const things = {
  nothing: () => Promise.resolve({ params: {} }),

  organization: ({ organizationId }: World) =>
    Promise.resolve({ params: { org_uuid: organizationId, org_id: organizationId } }),

  async login(world: World) {
    const { sessionKey } = world.person('holder');
    return { params: { token: (await world.login(sessionKey, world.organizationId)).refreshToken } };
  },

  /** A login of the holder's, by its id. */
  async listedLogin(world: World) {
    const { sessionKey, accountId } = world.person('holder');
    await world.login(sessionKey, world.organizationId);
    const logins = await world.given<{ id: string; account: { id: string } }[]>(
      contract.admin.listLogins,
      world.person('admin').accessToken,
    );
    // Newest first; the oldest is the one that the holder calls with.
    return { params: { login_id: logins.find(({ account }) => account.id === accountId)?.id ?? '' } };
  },

  /** A sign-in of the holder's in a browser. */
  async signIn(world: World) {
    return { params: { sign_in_id: await world.signIn('holder') } };
  },

  /** Another member, whom nobody misses. */
  async colleague(world: World) {
    const { id } = await world.given<{ id: string }>(
      contract.admin.addPerson,
      world.person('admin').accessToken,
      { body: { email: `${randomUUID()}@example.com` } },
    );
    return { params: { account_id: id } };
  },

  /** A log record that the holder's program sent. */
  async logRecord(world: World, text = mark) {
    await world.given(contract.telemetry.logs, world.person('holder').accessToken, {
      body: {
        resourceLogs: [
          {
            resource: { attributes: [{ key: 'service.name', value: { stringValue: mark } }] },
            scopeLogs: [{ logRecords: [{ body: { stringValue: text } }] }],
          },
        ],
      },
    });
    return { params: {} };
  },

  async setting(world: World) {
    const params = { name: `setting_${randomUUID()}` };
    await world.given(contract.admin.setSetting, world.person('admin').accessToken, {
      params,
      body: { value: mark },
    });
    return { params };
  },

  async apiKey(world: World) {
    const { accessToken } = world.person('holder');
    await world.call(contract.oauth.createApiKey, accessToken, { body: { name: mark } });
    const { api_keys: keys } = await world.given<{ api_keys: { id: string }[] }>(
      contract.oauth.listApiKeys,
      accessToken,
    );
    return { params: { key_id: keys[0]?.id ?? '' } };
  },

  async trustedDevice(world: World) {
    const { accessToken } = world.person('holder');
    await world.call(contract.devices.trust, accessToken, { body: { display_name: mark } });
    const { trusted_devices: devices } = await world.given<{ trusted_devices: { id: string }[] }>(
      contract.devices.list,
      accessToken,
    );
    return { params: { device_id: devices[0]?.id ?? '' } };
  },

  /** A machine with a bridge. */
  async environment(world: World) {
    const id = await register(world, 'holder');
    return { params: { env_id: id, environment_id: id, org_uuid: world.organizationId } };
  },

  async managedEnvironment(world: World) {
    const { id } = await world.given<{ id: string }>(
      contract.environments.create,
      world.person('holder').accessToken,
      { body: { machine_name: mark, directory: `/${mark}` } },
    );
    return { params: { env_id: id } };
  },

  async session(world: World) {
    const environmentId = await register(world, 'holder');
    const { id } = await createSession(world, 'holder', environmentId);
    return { params: { id, env_id: environmentId } };
  },

  /** Work that was fetched and not yet acknowledged. */
  async fetchedWork(world: World) {
    return { params: await takeWork(world, 'holder', false) };
  },

  async runningWork(world: World) {
    return { params: await takeWork(world, 'holder', true) };
  },

  /** A worker of the holder's session; the others have workers too, of their own sessions. */
  async worker(world: World) {
    const { params, token } = await worker(world, 'holder');
    const others: [Party, string][] = [];
    for (const party of ['admin', 'colleague', 'foreign'] as const)
      others.push([party, (await worker(world, party)).token]);
    return { params, workers: { holder: token, ...Object.fromEntries(others) } };
  },
} satisfies Readonly<Record<string, (world: World) => Promise<Thing>>>;
