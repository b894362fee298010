import { join } from 'node:path';
import {
  createBridgeEngine,
  type BridgeConfig,
  type WorkerClaims,
  type WorkerTokens,
} from '@sallyport/bridge/server';
import {
  createIds,
  createLocalWakeups,
  randomSecret,
  ServiceError,
  systemClock,
  systemRandom,
  type Clock,
} from '@sallyport/core';
import { createClient, undiciTransport } from '@sallyport/core/client';
import { onTestFinished } from 'vitest';
import type { Caller } from '../../src/http/callers.ts';
import { bridgeHandlers } from '../../src/routes/bridge.ts';
import { environmentsHandlers } from '../../src/routes/environments.ts';
import { sessionsHandlers } from '../../src/routes/sessions.ts';
import { workerHandlers } from '../../src/routes/worker.ts';
import { bridgeReads } from '../../src/store/embedded/bridge-reads.ts';
import { openReader } from '../../src/store/embedded/reader.ts';
import { openWriter } from '../../src/store/embedded/writer.ts';
import { serve, testAuthenticator } from '../serve.ts';
import { scratchDirectory } from '../store/scratch.ts';
import type { areas } from './contents.ts';
import { someDevices } from './devices.ts';
import { testEmails } from './harness.ts';

export const runner = { 'x-environment-runner-version': '1.0.0' };

/**
 * The bridge's areas on a real port, over the real store; `colleague` and `foreign` are tokens of other accounts, too.
 * `httpClock`: of what HTTP does by itself, such as keeping a quiet stream alive.
 */
export async function serveBridge({
  apiBaseUrl = 'http://workers.example',
  httpClock = systemClock,
  config = {},
}: {
  readonly apiBaseUrl?: string;
  readonly httpClock?: Clock;
  readonly config?: Partial<BridgeConfig>;
} = {}) {
  const path = join(scratchDirectory(), 'store.db');
  const writer = await openWriter<typeof areas>({
    path,
    contents: new URL('./contents.ts', import.meta.url),
  });
  const reader = openReader(path);
  const workerTokens = opaqueTokens();
  const engine = createBridgeEngine({
    store: { acts: writer.area('bridge'), reads: bridgeReads(reader) },
    accounts: testEmails,
    clock: systemClock,
    random: systemRandom,
    ids: createIds(systemClock, systemRandom),
    wakeups: createLocalWakeups(),
    workerTokens,
    devices: someDevices().port,
    apiBaseUrl,
    config,
  });
  await engine.start();
  const served = await serve(
    {
      handlers: {
        bridge: bridgeHandlers(engine, {
          changes: 0,
          stands: () => Promise.resolve(true),
          watch: () => undefined,
          unwatch: () => undefined,
        }),
        sessions: sessionsHandlers(engine, { idOf: () => Promise.resolve(undefined) }),
        worker: workerHandlers(engine),
        environments: environmentsHandlers(engine),
      },
      authenticator: {
        ...testAuthenticator,
        ingress: (token) => workerTokens.verify(token),
        async accessToken(token) {
          const caller = await testAuthenticator.accessToken(others[token] ? 'access' : token);
          return { ...caller, ...others[token] };
        },
      },
      drainSteps: [() => engine.drain()],
    },
    { clock: httpClock },
  );
  const transport = undiciTransport();
  onTestFinished(async () => {
    await served.close();
    await transport.close();
    await engine.stop();
    reader.close();
    await writer.close();
  });
  const clientOptions = {
    baseUrl: served.url,
    transport,
    tokens: { token: () => Promise.resolve('access') },
  };
  return { ...served, client: createClient(clientOptions), clientOptions, engine, path };
}

const others: Readonly<Record<string, Partial<Caller>>> = {
  colleague: { accountId: 'colleague', role: 'member', permissions: ['read', 'write'] },
  foreign: { accountId: 'foreign', organizationId: 'elsewhere' },
};

function opaqueTokens(): WorkerTokens {
  const known = new Map<string, WorkerClaims>();
  return {
    mint(claims) {
      const token = randomSecret(systemRandom);
      known.set(token, { ...claims, expiresAt: Date.now() + 3_600_000 });
      return Promise.resolve(token);
    },
    verify(token) {
      const claims = known.get(token);
      return claims
        ? Promise.resolve(claims)
        : Promise.reject(new ServiceError('invalid_token', 'The token is not known.'));
    },
  };
}

export type Bridge = Awaited<ReturnType<typeof serveBridge>>;

export async function register({ client }: Bridge): Promise<string> {
  const { environment_id } = await client.bridge.register({
    headers: { ...runner, 'vendor-worker-id': 'w1', 'x-trusted-device-token': 'device' },
    body: { machine_name: 'laptop', directory: '/src' },
  });
  return environment_id;
}

export function createSession(
  { client }: Bridge,
  environmentId: string,
  events: { type: string; data: object }[] = [],
) {
  return client.sessions.create({
    headers: {
      ...runner,
      'vendor-client-feature': 'ccr',
      'x-organization-uuid': 'organization',
    },
    body: { environment_id: environmentId, events: events as never },
  });
}
