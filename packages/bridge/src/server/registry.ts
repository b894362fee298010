import { deviceRevoked, readPage, ServiceError, toTimestamp, type Page } from '@sallyport/core';
import {
  contract,
  type EnvironmentStatus,
  type OrganizationEnvironment,
  type RegisterBridgeRequest,
} from '@sallyport/core/contract';
import { shownAccounts, type ShownAccount } from './accounts.ts';
import { timing, wake, type Context } from './context.ts';
import { dismissBridge } from './dismiss.ts';
import { environmentDeleted, noSuchEnvironment } from './environment-errors.ts';
import type { PollQueue } from './queue.ts';
import type { Caller, Environment, ListedEnvironment, RegisteredEnvironment } from './records.ts';
import { leaveTopic } from './topics.ts';

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
  /** ... and if it is the caller's, or the caller is an admin: else `forbidden`. */
  owned(caller: Caller, environmentId: string): Promise<Environment>;
  /** ... and if a bridge is registered for it: else as if it were not there. */
  held(caller: Caller, environmentId: string): Promise<RegisteredEnvironment>;
  /** ... from a device that is trusted still: else `device_revoked`. */
  trusted(caller: Caller, environmentId: string): Promise<RegisteredEnvironment>;
}

export function createRegistry(
  context: Context,
  options: { readonly apiBaseUrl: string; readonly queue: PollQueue },
): Registry {
  const { store, clock, config, ids, presence, wakeups, devices, accounts } = context;
  const { apiBaseUrl, queue } = options;

  async function visible(caller: Caller, environmentId: string): Promise<Environment> {
    const environment = await store.reads.environment({ environmentId });
    if (environment?.organizationId === caller.organizationId) return environment;
    if (environment) throw noSuchEnvironment(environmentId);
    throw await missing(caller, environmentId);
  }

  async function owned(caller: Caller, environmentId: string): Promise<Environment> {
    const environment = await visible(caller, environmentId);
    if (environment.accountId !== caller.accountId && !caller.isAdmin)
      throw new ServiceError(
        'forbidden',
        'The environment is of another account: ask its owner or an admin.',
      );
    return environment;
  }

  async function held(caller: Caller, environmentId: string): Promise<RegisteredEnvironment> {
    const { registration, ...environment } = await owned(caller, environmentId);
    if (registration) return { ...environment, registration };
    throw await missing(caller, environmentId);
  }

  async function trusted(caller: Caller, environmentId: string): Promise<RegisteredEnvironment> {
    const environment = await held(caller, environmentId);
    if (!(await devices.stands(environment.registration.deviceId))) throw deviceRevoked();
    return environment;
  }

  /** Why there is no environment, or no registration for it. */
  async function missing(caller: Caller, environmentId: string): Promise<ServiceError> {
    return (await store.reads.deletedEnvironment({ environmentId })) === caller.organizationId
      ? environmentDeleted()
      : noSuchEnvironment(environmentId);
  }

  return {
    visible,
    owned,
    held,
    trusted,

    async register(caller, request, deviceToken) {
      const { accountId, organizationId, workerKey } = caller;
      const { deviceId } = await devices.check(deviceToken, { accountId, organizationId });
      // The judgement is by stored times: a call of the present holder that is known only here must count.
      await presence.write('all');
      const { environmentId, returned } = await store.acts.registerEnvironment({
        accountId,
        organizationId,
        deviceId,
        workerKey,
        newId: ids.next('env'),
        sentId: request.environment_id,
        machineName: request.machine_name,
        directory: request.directory,
        metadata: request.metadata ?? {},
        ...timing(context),
        ttlMs: config.registrationTtlSeconds * 1000,
      });
      for (const work of returned) wake(context, work);
      const path = contract.bridge.ws.path.replace('{env_id}', environmentId);
      return { environment_id: environmentId, bridge_ws_url: apiBaseUrl.replace(/^http/, 'ws') + path };
    },

    async unregister(caller, environmentId) {
      await held(caller, environmentId);
      const stopped = await store.acts.unregisterEnvironment({ environmentId, ...timing(context) });
      dismissBridge(context, queue, environmentId, stopped);
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

    async list(caller, { organizationId, workerTypes, ...page }) {
      if (organizationId !== caller.organizationId)
        throw new ServiceError('not_found', 'There is no such organization.');
      const seenSince = clock.now() - config.hiddenSeconds * 1000;
      const { items, next } = await readPage(page, (part) =>
        store.reads.environments({ organizationId, workerTypes, seenSince, ...part }),
      );
      const shown = await shownAccounts(
        accounts,
        items.map(({ accountId }) => accountId),
      );
      return { items: items.map((item) => toWire(item, shown(item.accountId))), next };
    },
  };

  function toWire(environment: ListedEnvironment, account: ShownAccount): OrganizationEnvironment {
    return {
      environment_id: environment.id,
      machine_name: environment.machineName,
      directory: environment.directory,
      metadata: environment.metadata,
      worker_type: environment.registration.workerType,
      status: presence.status(environment.id, environment.registration),
      last_seen_at: toTimestamp(presence.lastSeen(environment.id, environment.registration.lastSeenAt)),
      active_sessions: environment.activeSessions,
      account,
    };
  }
}
