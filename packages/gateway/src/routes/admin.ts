import { ServiceError, toTimestamp, type Page } from '@sallyport/core';
import { contract, type Endpoint } from '@sallyport/core/contract';
import { scopeFromWire, shownAuditEntry, type AuthorizationServer } from '@sallyport/oauth/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Gates } from '../http/admission.ts';
import type { Caller } from '../http/callers.ts';
import type { Handlers } from '../http/handler.ts';
import {
  shownApiKey,
  shownClient,
  shownDevice,
  shownLogin,
  shownPerson,
  shownSession,
} from './admin-records.ts';
import { ownAnswer } from './own-answer.ts';
import { linkNextPage, pageSize } from './page.ts';

interface Paged {
  readonly query: { readonly limit?: number; readonly offset?: string };
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The administration's rows: each acts on the organization of the caller's token alone. */
export function adminHandlers(server: AuthorizationServer): Handlers['admin'] {
  const { audit, clients, dialect, managedSettings, members, oversight, profiles } = server;

  async function settingsOf(organizationId: string) {
    return { settings: { ...(await managedSettings.of(organizationId)) } };
  }

  return {
    listPeople: (call) =>
      list(
        contract.admin.listPeople,
        call,
        (query) => members.page(call.caller.organizationId, query),
        shownPerson,
      ),
    async addPerson({ caller, body: { email, role }, reply }) {
      reply.headers(ownAnswer);
      const { member, setupLink } = await members.invite(caller.organizationId, { email, role });
      return {
        ...shownPerson(member),
        ...(setupLink !== undefined && {
          setup_link: setupLink.url,
          setup_link_expires_at: toTimestamp(setupLink.expiresAt),
        }),
      };
    },
    changeRole: async ({ caller, params, body }) =>
      shownPerson(await members.changeRole(params.account_id, caller.organizationId, body.role)),
    async unlockPerson({ caller, params, reply }) {
      reply.headers(ownAnswer);
      const { id, email, wasLocked } = await members.unlock(params.account_id, caller.organizationId);
      return { id, email, was_locked: wasLocked };
    },
    async removePerson({ caller, params }) {
      await members.leave(params.account_id, caller.organizationId);
      return deleted(params.account_id);
    },
    listRoles: async () => profiles.roles(),

    listApiKeys: (call) =>
      list(
        contract.admin.listApiKeys,
        call,
        (query) => oversight.apiKeys(call.caller.organizationId, query),
        (key) => shownApiKey(key, dialect),
      ),
    async revokeApiKey({ caller, params }) {
      await oversight.revokeApiKey(caller.organizationId, params.key_id);
      return deleted(params.key_id);
    },
    listDevices: (call) =>
      list(
        contract.admin.listDevices,
        call,
        (query) => oversight.devices(call.caller.organizationId, query),
        shownDevice,
      ),
    async revokeDevice({ caller, params }) {
      await oversight.revokeDevice(caller.organizationId, params.device_id);
      return deleted(params.device_id);
    },
    listLogins: (call) =>
      list(
        contract.admin.listLogins,
        call,
        (query) => oversight.logins(call.caller.organizationId, query),
        (login) => shownLogin(login, dialect),
      ),
    async revokeLogin({ caller, params }) {
      await oversight.revokeLogin(caller.organizationId, params.login_id);
      return deleted(params.login_id);
    },
    listSignIns: (call) =>
      list(
        contract.admin.listSignIns,
        call,
        (query) => oversight.sessions(call.caller.organizationId, query),
        shownSession,
      ),
    async endSignIn({ caller, params }) {
      await oversight.endSession(caller.organizationId, params.sign_in_id);
      return deleted(params.sign_in_id);
    },

    listClients: (call) =>
      list(
        contract.admin.listClients,
        call,
        (query) => clients.list(query),
        (client) => shownClient(client, dialect),
      ),
    async addClient({ body: { client_name: name, redirect_uris: redirectUris, scope } }) {
      const neutral = scope === undefined ? undefined : scopeFromWire(scope, dialect);
      const client = await clients.add({
        name,
        redirectUris,
        ...(neutral !== undefined && { scope: neutral }),
      });
      return shownClient(client, dialect);
    },
    async removeClient({ params }) {
      await clients.remove(params.client_id);
      return deleted(params.client_id);
    },

    async listSettings({ caller, reply }) {
      reply.headers(ownAnswer);
      return settingsOf(caller.organizationId);
    },
    async setSetting({ caller, params, body }) {
      await managedSettings.set(caller.organizationId, params.name, body.value);
      return settingsOf(caller.organizationId);
    },
    async unsetSetting({ caller, params }) {
      await managedSettings.unset(caller.organizationId, params.name);
      return settingsOf(caller.organizationId);
    },

    listAudit(call) {
      const { actor, action, since, until } = call.query;
      const filter = { actor, action, since: toTime(since), until: toTime(until) };
      return list(
        contract.admin.listAudit,
        call,
        (page) => audit.query(call.caller.organizationId, { ...filter, ...page }),
        shownAuditEntry,
      );
    },
  };
}

/** Before the body is looked at, as any role; who lacks scope or permission is told of that, in the next check. */
export function adminGates({ clients }: AuthorizationServer): Gates {
  const { scope, permission } = contract.admin.addClient;
  const forAdmins =
    (check: (caller: Caller) => void | Promise<void>): NonNullable<Gates['admin.addClient']> =>
    async (caller) => {
      if (caller === undefined || !('scopes' in caller)) return;
      if (caller.scopes.includes(scope) && caller.permissions.includes(permission)) await check(caller);
    };
  const governs = forAdmins(async (caller) => {
    refuseKey(caller);
    await clients.checkGovernor(caller.organizationId);
  });
  const isPerson = forAdmins(refuseKey);
  return {
    'admin.addClient': governs,
    'admin.removeClient': governs,
    'admin.addPerson': isPerson,
    'admin.changeRole': isPerson,
  };
}

/** A key that was stolen, or is about to expire, must leave nobody behind who may do as much. */
function refuseKey({ isApiKey }: Caller): void {
  if (isApiKey)
    throw new ServiceError('forbidden', 'An API key gives nobody access: log in, and use that login.');
}

/** A page of a list, with where the next one is. */
async function list<Item, Shown>(
  endpoint: Endpoint,
  { query, request, reply }: Paged,
  read: (query: { readonly limit: number; readonly offset: string | undefined }) => Promise<Page<Item>>,
  show: (item: Item) => Shown,
): Promise<Shown[]> {
  const { items, next } = await read({ limit: pageSize(endpoint, query.limit), offset: query.offset });
  reply.headers(ownAnswer);
  linkNextPage(request, reply, next);
  return items.map(show);
}

function deleted(id: string): { id: string; deleted: true } {
  return { id, deleted: true };
}

function toTime(timestamp: string | undefined): number | undefined {
  return timestamp === undefined ? undefined : Date.parse(timestamp);
}
