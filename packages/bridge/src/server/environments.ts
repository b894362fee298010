import { readPage, toTimestamp, type Page } from '@sallyport/core';
import type {
  CreateEnvironmentRequest,
  ManagedEnvironment,
  UpdateEnvironmentRequest,
} from '@sallyport/core/contract';
import { shownAccounts, type ShownAccount } from './accounts.ts';
import { timing, wake, type Context } from './context.ts';
import { dismissBridge } from './dismiss.ts';
import { environmentDeleted } from './environment-errors.ts';
import { idempotencyOf } from './idempotency.ts';
import type { PollQueue } from './queue.ts';
import type { Caller, Environment } from './records.ts';
import type { Registry } from './registry.ts';
import { stopTopic } from './topics.ts';

/**
 * Environments as records, with or without a bridge. Another organization's is `not_found`; what changes one is for its
 * account and admins: else `forbidden`.
 */
export interface Environments {
  /**
   * Creates a managed environment. The same account's same `idempotencyKey` within a day gives the one that it made before;
   * another request under that key is `invalid_request`.
   */
  create(
    caller: Caller,
    request: CreateEnvironmentRequest,
    options?: { readonly idempotencyKey?: string | undefined },
  ): Promise<ManagedEnvironment>;
  /** The managed ones, archived or not, newest first; `name` is a part of the machine name, in any case. */
  list(
    caller: Caller,
    query: {
      readonly limit: number;
      readonly offset?: string | undefined;
      readonly name?: string | undefined;
    },
  ): Promise<Page<ManagedEnvironment>>;
  get(caller: Caller, id: string): Promise<ManagedEnvironment>;
  /** What is sent replaces; metadata are merged, where `null` removes a member. */
  update(caller: Caller, id: string, request: UpdateEnvironmentRequest): Promise<ManagedEnvironment>;
  /** Stops its work gracefully and sends its bridge away; it takes no sessions any more. Throws `already_archived`. */
  archive(caller: Caller, id: string): Promise<ManagedEnvironment>;
  /** Removes it with its registration, in every state; its work is stopped by force. */
  delete(caller: Caller, id: string): Promise<{ readonly id: string; readonly deleted: true }>;
}

export function createEnvironments(
  context: Context,
  { registry, queue }: { readonly registry: Registry; readonly queue: PollQueue },
): Environments {
  const { store, clock, ids, accounts } = context;

  async function get(caller: Caller, id: string): Promise<ManagedEnvironment> {
    const environment = await registry.visible(caller, id);
    const shown = await shownAccounts(accounts, [environment.accountId]);
    return toWire(environment, shown(environment.accountId));
  }

  return {
    get,

    async create(caller, request, { idempotencyKey } = {}) {
      const id = await store.acts.createEnvironment({
        id: ids.next('env'),
        accountId: caller.accountId,
        organizationId: caller.organizationId,
        machineName: request.machine_name,
        directory: request.directory,
        metadata: request.metadata,
        now: clock.now(),
        idempotency: idempotencyOf(context, idempotencyKey, request),
      });
      return get(caller, id);
    },

    async list({ organizationId }, { name, ...page }) {
      const { items, next } = await readPage(page, (part) =>
        store.reads.managedEnvironments({ organizationId, name, ...part }),
      );
      const shown = await shownAccounts(
        accounts,
        items.map(({ accountId }) => accountId),
      );
      return { items: items.map((item) => toWire(item, shown(item.accountId))), next };
    },

    async update(caller, id, { machine_name, directory, metadata }) {
      await registry.owned(caller, id);
      await store.acts.updateEnvironment({
        environmentId: id,
        machineName: machine_name,
        directory,
        metadata,
        now: clock.now(),
      });
      return get(caller, id);
    },

    async archive(caller, id) {
      await registry.owned(caller, id);
      const stopped = await store.acts.archiveEnvironment({ environmentId: id, ...timing(context) });
      for (const work of stopped) wake(context, work);
      context.wakeups.notify(stopTopic(id));
      queue.refuse(id, environmentDeleted('archived'));
      return get(caller, id);
    },

    async delete(caller, id) {
      await registry.owned(caller, id);
      const stopped = await store.acts.deleteEnvironment({ environmentId: id, ...timing(context) });
      dismissBridge(context, queue, id, stopped);
      return { id, deleted: true };
    },
  };
}

function toWire(environment: Environment, account: ShownAccount): ManagedEnvironment {
  const { archivedAt } = environment;
  return {
    id: environment.id,
    machine_name: environment.machineName,
    directory: environment.directory,
    metadata: environment.metadata,
    account,
    created_at: toTimestamp(environment.createdAt),
    updated_at: toTimestamp(environment.updatedAt),
    archived_at: archivedAt === null ? null : toTimestamp(archivedAt),
  };
}
