import { text } from 'node:stream/consumers';
import { neutralDialect, ServiceError, toTimestamp } from '@sallyport/core';
import type { AuthorizationServer, Member, Organization, Role, ShownAccount } from '@sallyport/oauth/server';
import { shownClient } from '../routes/admin-records.ts';
import { withAuthorizationServer } from './authorization.ts';
import type { ConfigFlags } from './flags.ts';
import { operatorCommand } from './operator-command.ts';
import { organizationNamed } from './organization-named.ts';
import { printJson, printRecord, type PrintFlags } from './print.ts';

/** `admin session-key`: the key alone on stdout, so that scripts can take it. */
export async function printSessionKey(flags: ConfigFlags & { readonly user?: string }): Promise<void> {
  const { sessionKey } = await withAuthorizationServer(
    flags,
    async (server) => server.sessions.issue((await findAccount(server, flags.user, flags)).id),
    { mayMake: true },
  );
  process.stdout.write(`${sessionKey}\n`);
}

export interface AddUserFlags extends ConfigFlags, PrintFlags {
  readonly org?: string;
  readonly role?: Role;
  readonly passwordStdin?: boolean;
}

/** `admin user add`. Without a password the account is for session keys, until one is set. */
export async function addUser(email: string, flags: AddUserFlags): Promise<void> {
  const { org, role } = flags;
  const password = flags.passwordStdin === true ? await passwordFromStdin() : undefined;
  const add = async (server: AuthorizationServer) => {
    const organizationId = org && (await organizationNamed(server, org, flags)).id;
    const account = await server.accounts
      .add({
        email,
        ...(organizationId !== undefined && { organizationId }),
        ...(role !== undefined && { role }),
        ...(password !== undefined && { password }),
      })
      .catch((error: unknown) => {
        throw isThere(error) ? alreadyThere(email, flags, error) : error;
      });
    return { account, memberships: await server.organizations.of(account.id) };
  };
  const { account, memberships } = await withAuthorizationServer(flags, add, { mayMake: true });
  printRecord(
    memberRecord({ ...account, memberships }),
    () => `${account.email} is added: ${rolesIn(memberships)}.`,
    flags,
  );
  if (password === undefined)
    process.stderr.write(
      `It has no password yet: ${operatorCommand(['user', 'password', account.email], flags)} prints a link to set one.\n`,
    );
}

function isThere(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'conflict';
}

function alreadyThere(email: string, { org, role = 'member', ...flags }: AddUserFlags, cause: Error) {
  const command = operatorCommand(['user', 'role', email, role, '--org', org ?? 'ORG'], flags);
  return new ServiceError('conflict', `${cause.message} ${command} makes it a member there.`, { cause });
}

/** `admin user password`: the password comes from stdin; without `--password-stdin`, a one-time link is printed. */
export async function setUserPassword(
  email: string,
  flags: ConfigFlags & PrintFlags & { readonly passwordStdin?: boolean },
): Promise<void> {
  const password = flags.passwordStdin === true ? await passwordFromStdin() : undefined;
  const set = async (server: AuthorizationServer) => {
    const { accounts } = server;
    const { id } = await findAccount(server, email, flags);
    if (password === undefined) {
      const { url, expiresAt } = await accounts.setupLink(id);
      const until = toTimestamp(expiresAt);
      return printRecord(
        { setup_link: url, setup_link_expires_at: until },
        () => `Give them this link, which works once, until ${until}:\n${url}`,
        flags,
      );
    }
    await accounts.setPassword(id, password);
    const record = accountRecord(await accounts.find(email));
    printRecord(record, () => `The password of ${record.email} is set.`, flags);
  };
  await withAuthorizationServer(flags, set, { mayMake: true });
}

/** `admin org add`. */
export async function addOrganization(
  name: string,
  flags: ConfigFlags & { readonly zeroDataRetention?: boolean },
): Promise<void> {
  const zeroDataRetention = flags.zeroDataRetention === true;
  const organization = await withAuthorizationServer(
    flags,
    ({ organizations }) => organizations.add({ name, zeroDataRetention }),
    { mayMake: true },
  );
  printJson(organizationRecord(organization));
}

/** `admin client add`. */
export async function addClient(
  flags: ConfigFlags & {
    readonly name: string;
    readonly redirectUri: readonly string[];
    readonly scope?: string;
  },
): Promise<void> {
  const { name, redirectUri, scope } = flags;
  const client = await withAuthorizationServer(
    flags,
    ({ clients }) => clients.add({ name, redirectUris: redirectUri, ...(scope !== undefined && { scope }) }),
    { mayMake: true },
  );
  printJson(shownClient(client, neutralDialect));
}

/** `admin rotate-keys`: the next key is published now and signs once verifiers know it. */
export async function rotateKeys(flags: ConfigFlags): Promise<void> {
  const { kid, signsFrom } = await withAuthorizationServer(flags, ({ signer }) => signer.rotate(), {
    mayMake: true,
  });
  printJson({ kid, signs_from: toTimestamp(signsFrom) });
}

/** The account of `email`, or the owner's. */
export async function findAccount(
  { accounts }: Pick<AuthorizationServer, 'accounts'>,
  email: string | undefined,
  flags: ConfigFlags,
): Promise<ShownAccount> {
  try {
    return await accounts.find(email);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'not_found' || email === undefined) throw error;
    throw new ServiceError(
      'not_found',
      `There is no account ${email}: see which there are with ${operatorCommand(['user', 'list'], flags)}.`,
    );
  }
}

export function accountRecord({ id, email, hasPassword, createdAt }: ShownAccount) {
  return { id, email, has_password: hasPassword, created_at: toTimestamp(createdAt) };
}

export function memberRecord(member: Member) {
  return {
    ...accountRecord(member),
    memberships: member.memberships.map(({ organization: { id, name }, role }) => ({
      organization: { id, name },
      role,
    })),
  };
}

/** `admin in Default, viewer in Team`. */
export function rolesIn(
  memberships: readonly { readonly organization: { readonly name: string }; readonly role: Role }[],
): string {
  return memberships.map(({ organization: { name }, role }) => `${role} in ${name}`).join(', ');
}

export function organizationRecord(organization: Organization) {
  const { id, name, type, rateLimitTier, capabilities, zeroDataRetention, createdAt } = organization;
  return {
    id,
    name,
    organization_type: type,
    rate_limit_tier: rateLimitTier,
    capabilities,
    zero_data_retention: zeroDataRetention,
    created_at: toTimestamp(createdAt),
  };
}

async function passwordFromStdin(): Promise<string> {
  const password = (await text(process.stdin)).replace(/\r?\n$/, '');
  if (password === '') throw new ServiceError('invalid_request', 'There is no password on standard input.');
  return password;
}
