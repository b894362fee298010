import { neutralDialect, toTimestamp, type Page } from '@sallyport/core';
import type {
  AuthorizationServer,
  Oversight,
  PageQuery,
  Session,
  ShownAccount,
} from '@sallyport/oauth/server';
import { browserName } from '../pages/browser-name.ts';
import { shownApiKey, shownClient, shownDevice, shownLogin } from '../routes/admin-records.ts';
import { findAccount } from './accounts.ts';
import { commandsOn, type Holding, type ListFlags } from './holding.ts';
import { organizationNamed } from './organization-named.ts';
import type { Columns } from './print.ts';

// What members, and programs, may call with: as an organization's admins see it and end it, of all organizations.

const pageItems = 500;

interface OfOrganization {
  readonly id: string;
  readonly account: { readonly email: string };
  readonly organization: { readonly id: string; readonly name: string };
}

/** What is of a member in one organization: of the oldest organization first, of each the newest first. */
function ofMembers<
  Item extends { readonly accountId: string },
  Shown extends Omit<OfOrganization, 'organization'>,
>(
  holding: Pick<Holding<object>, 'what' | 'noun'> & {
    readonly page: (oversight: Oversight, organizationId: string, query: PageQuery) => Promise<Page<Item>>;
    readonly show: (item: Item) => Shown;
    readonly revoke: (oversight: Oversight, organizationId: string, id: string) => Promise<void>;
    readonly columns: Columns<Shown & OfOrganization>;
  },
): Holding<Shown & OfOrganization> {
  const { what, noun, page, show, revoke, columns } = holding;
  return {
    what,
    noun,
    done: 'revoked',
    columns,
    idOf: ({ id }) => id,
    whose: ({ account, organization }) => ` of ${account.email} in ${organization.name}`,
    async read(server, flags) {
      const { organizations, oversight } = server;
      const account = await accountOf(server, flags);
      const among =
        flags.org === undefined
          ? await organizations.list()
          : [await organizationNamed(server, flags.org, flags)];
      const found: (Shown & OfOrganization)[] = [];
      for (const { id, name } of among)
        for (const item of await all((query) => page(oversight, id, query)))
          if (account === undefined || item.accountId === account.id)
            found.push({ ...show(item), organization: { id, name } });
      return found;
    },
    end: ({ oversight }, { id, organization }) => revoke(oversight, organization.id, id),
  };
}

export const keys = commandsOn(
  ofMembers({
    what: 'API key',
    noun: 'key',
    page: (oversight, id, query) => oversight.apiKeys(id, query),
    show: (key) => shownApiKey(key, neutralDialect),
    revoke: (oversight, organizationId, id) => oversight.revokeApiKey(organizationId, id),
    columns: {
      header: ['ID', 'WHOSE', 'ORGANIZATION', 'NAME', 'CREATED', 'LAST USED', 'EXPIRES', 'SCOPE'],
      row: ({ id, account, organization, name, created_at, last_used_at, expires_at, scope }) => [
        id,
        account.email,
        organization.name,
        name ?? '-',
        day(created_at),
        day(last_used_at),
        day(expires_at),
        scope,
      ],
      none: 'There is no API key.',
    },
  }),
);

export const devices = commandsOn(
  ofMembers({
    what: 'trusted device',
    noun: 'device',
    page: (oversight, id, query) => oversight.devices(id, query),
    show: shownDevice,
    revoke: (oversight, organizationId, id) => oversight.revokeDevice(organizationId, id),
    columns: {
      header: ['ID', 'WHOSE', 'ORGANIZATION', 'NAME', 'CREATED', 'LAST USED'],
      row: ({ id, account, organization, display_name, created_at, last_used_at }) => [
        id,
        account.email,
        organization.name,
        display_name,
        day(created_at),
        day(last_used_at),
      ],
      none: 'There is no trusted device.',
    },
  }),
);

export const logins = commandsOn(
  ofMembers({
    what: 'login',
    noun: 'login',
    page: (oversight, id, query) => oversight.logins(id, query),
    show: (login) => shownLogin(login, neutralDialect),
    revoke: (oversight, organizationId, id) => oversight.revokeLogin(organizationId, id),
    columns: {
      header: ['ID', 'WHOSE', 'ORGANIZATION', 'PROGRAM', 'FROM', 'CREATED', 'REFRESHED', 'EXPIRES'],
      row: ({
        id,
        account,
        organization,
        client_name,
        client_id,
        address,
        created_at,
        refreshed_at,
        expires_at,
      }) => [
        id,
        account.email,
        organization.name,
        client_name ?? client_id,
        address ?? '-',
        day(created_at),
        day(refreshed_at),
        day(expires_at),
      ],
      none: 'Nobody is logged in with a program.',
    },
  }),
);

/** An account's are for all its organizations. */
export const signIns = commandsOn<ReturnType<typeof shownSignIn>>({
  what: 'sign-in',
  noun: 'sign-in',
  done: 'ended',
  columns: {
    header: ['ID', 'WHOSE', 'WITH', 'FROM', 'CREATED', 'LAST USED', 'EXPIRES'],
    row: ({ id, account, user_agent, address, created_at, last_used_at, expires_at }) => [
      id,
      account.email,
      browserName(user_agent) ?? user_agent?.slice(0, 40) ?? '-',
      address ?? '-',
      day(created_at),
      day(last_used_at),
      day(expires_at),
    ],
    none: 'Nobody is signed in.',
  },
  idOf: ({ id }) => id,
  whose: ({ account }) => ` of ${account.email}`,
  async read(server, flags) {
    const { members, sessions } = server;
    const whose = await accountOf(server, flags);
    const organizationId = flags.org && (await organizationNamed(server, flags.org, flags)).id;
    const found: ReturnType<typeof shownSignIn>[] = [];
    for (const account of await members.list(organizationId))
      if (whose === undefined || account.id === whose.id)
        for (const session of await sessions.list(account.id)) found.push(shownSignIn(account, session));
    return found;
  },
  end: ({ sessions }, { id, account }) => sessions.end({ sessionId: id, accountId: account.id }),
});

function shownSignIn({ id, email }: ShownAccount, session: Session) {
  const { address, userAgent, createdAt, lastUsedAt, expiresAt } = session;
  return {
    id: session.id,
    account: { id, email },
    address,
    user_agent: userAgent,
    created_at: toTimestamp(createdAt),
    last_used_at: lastUsedAt === null ? null : toTimestamp(lastUsedAt),
    expires_at: toTimestamp(expiresAt),
  };
}

export const clients = commandsOn<ReturnType<typeof shownClient>>({
  what: 'client',
  noun: 'client',
  done: 'removed',
  columns: {
    header: ['ID', 'NAME', 'SCOPE', 'REDIRECT URIS'],
    row: ({ client_id, client_name, scope, redirect_uris }) => [
      client_id,
      client_name,
      scope,
      redirect_uris.join(' '),
    ],
    none: 'No client is registered.',
  },
  idOf: ({ client_id }) => client_id,
  whose: ({ client_name }) => ` (${client_name})`,
  read: async ({ clients: registered }) =>
    (await all((query) => registered.list(query))).map((client) => shownClient(client, neutralDialect)),
  end: ({ clients: registered }, { client_id }) => registered.remove(client_id),
});

async function accountOf(server: AuthorizationServer, flags: ListFlags) {
  return flags.user === undefined ? undefined : findAccount(server, flags.user, flags);
}

async function all<Item>(read: (query: PageQuery) => Promise<Page<Item>>): Promise<readonly Item[]> {
  const items: Item[] = [];
  let offset: string | undefined;
  do {
    const page = await read({ limit: pageItems, offset });
    items.push(...page.items);
    offset = page.next;
  } while (offset !== undefined);
  return items;
}

function day(at: string | null): string {
  return at?.slice(0, 10) ?? 'never';
}
