import { ServiceError, toTimestamp } from '@sallyport/core';
import {
  contract,
  type EnvironmentStatus,
  type OrganizationEnvironment,
  type RegisterBridgeRequest,
} from '@sallyport/core/contract';
import { timing, wake, type Context } from './context.ts';
import { decodePlace, pageOf, type Page } from './cursor.ts';
import type { TrustedDevices } from './ports.ts';
import type { Caller, Environment, ListedEnvironment } from './records.ts';
import { leaveTopic } from './topics.ts';

const defaultWorkerType = 'cowork';

/** Which environments there are, whose they are, and whether somebody holds them. */
export interface Registry {
  /** Throws `already_registered` while another registration stands, and what the device's check throws. */
  register(
    caller: Caller,
    request: RegisterBridgeRequest,
    deviceToken: string,
  ): Promise<{ readonly environment_id: string; readonly bridge_ws_url: string }>;
  unregister(caller: Caller, environmentId: string): Promise<{ readonly id: string; readonly deleted: true }>;
  /**
   * The environment's bridge stops: shown as offline at once, its held polls end, the next registration is taken. A
   * `workerId` other than the one that registered changes nothing; any later call shows the environment again.
   */
  leave(
    caller: Caller,
    environmentId: string,
    workerId: string | undefined,
  ): Promise<{ readonly environment_id: string; readonly status: EnvironmentStatus }>;
  /** Environments of the caller's organization by worker type, newest first. Throws `not_found` for another one. */
  list(
    caller: Caller,
    query: {
      readonly organizationId: string;
      readonly workerTypes: readonly string[];
      readonly limit: number;
      readonly offset?: string | undefined;
    },
  ): Promise<Page<OrganizationEnvironment>>;
  /** The environment, if the caller's organization has it: else `not_found`, or `environment_deleted`. */
  visible(caller: Caller, environmentId: string): Promise<Environment>;
  /** ... and if the caller may act for it: else `forbidden`. */
  held(caller: Caller, environmentId: string): Promise<Environment>;
}

export function createRegistry(
  context: Context,
  { devices, apiBaseUrl }: { readonly devices: TrustedDevices; readonly apiBaseUrl: string },
): Registry {
  const { store, clock, config, ids, presence, wakeups } = context;

  async function visible(caller: Caller, environmentId: string): Promise<Environment> {
    const environment = await store.reads.environment({ environmentId });
    if (environment?.organizationId === caller.organizationId) return environment;
    if (!environment && (await store.reads.deletedEnvironment({ environmentId })) === caller.organizationId)
      throw new ServiceError('environment_deleted', 'The environment was deleted.');
    throw new ServiceError('not_found', `There is no environment ${environmentId}.`);
  }

  async function held(caller: Caller, environmentId: string): Promise<Environment> {
    const environment = await visible(caller, environmentId);
    if (environment.accountId !== caller.accountId && !caller.isAdmin)
      throw new ServiceError('forbidden', 'The environment was registered by another account.');
    return environment;
  }

  return {
    visible,
    held,

    async register(caller, request, deviceToken) {
      const { accountId, organizationId, workerKey } = caller;
      const { deviceId } = await devices.check(deviceToken, { accountId, organizationId });
      // The judgement is by stored times: a call of the present holder that is known only here must count.
      await presence.write('all');
      const metadata = request.metadata ?? {};
      const environmentId = await store.acts.registerEnvironment({
        accountId,
        organizationId,
        deviceId,
        workerKey,
        newId: ids.next('env'),
        sentId: request.environment_id,
        machineName: request.machine_name,
        directory: request.directory,
        metadata,
        workerType: workerTypeOf(metadata),
        now: clock.now(),
        ttlMs: config.registrationTtlSeconds * 1000,
      });
      const path = contract.bridge.ws.path.replace('{env_id}', environmentId);
      return { environment_id: environmentId, bridge_ws_url: apiBaseUrl.replace(/^http/, 'ws') + path };
    },

    async unregister(caller, environmentId) {
      await held(caller, environmentId);
      const stopped = await store.acts.unregisterEnvironment({ environmentId, ...timing(context) });
      presence.forget(environmentId);
      for (const work of stopped) wake(context, work);
      return { id: environmentId, deleted: true };
    },

    async leave(caller, environmentId, workerId) {
      await held(caller, environmentId);
      // What is known only here came before: it must not count as a sign of life after the farewell.
      await presence.write('all');
      const seen = await store.acts.leaveEnvironment({
        environmentId,
        workerKey: workerId,
        now: clock.now(),
      });
      const status = presence.status(environmentId, seen);
      if (status === 'offline') wakeups.notify(leaveTopic(environmentId));
      return { environment_id: environmentId, status };
    },

    async list(caller, { organizationId, workerTypes, limit, offset }) {
      if (organizationId !== caller.organizationId)
        throw new ServiceError('not_found', 'There is no such organization.');
      const read = await store.reads.environments({
        organizationId,
        workerTypes,
        seenSince: clock.now() - config.hiddenSeconds * 1000,
        limit: limit + 1,
        before: offset === undefined ? undefined : decodePlace(offset),
      });
      const { items, next } = pageOf(read, limit);
      return { items: items.map(toWire), next };
    },
  };

  function toWire(environment: ListedEnvironment): OrganizationEnvironment {
    return {
      environment_id: environment.id,
      machine_name: environment.machineName,
      directory: environment.directory,
      metadata: environment.metadata,
      worker_type: environment.workerType,
      status: presence.status(environment.id, environment),
      last_seen_at: toTimestamp(presence.lastSeen(environment.id, environment.lastSeenAt)),
      active_sessions: environment.activeSessions,
    };
  }
}

function workerTypeOf(metadata: Readonly<Record<string, unknown>>): string {
  const type = metadata['worker_type'];
  return typeof type === 'string' && type !== '' ? type : defaultWorkerType;
}
