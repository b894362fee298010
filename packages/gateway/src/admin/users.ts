import { ServiceError } from '@sallyport/core';
import type { AuthorizationServer, Organization, Role } from '@sallyport/oauth/server';
import { findAccount, memberRecord, rolesIn } from './accounts.ts';
import { withAuthorizationServer } from './authorization.ts';
import type { ConfigFlags } from './flags.ts';
import { withAnotherAdmin } from './last-admin.ts';
import { operatorCommand } from './operator-command.ts';
import { organizationNamed } from './organization-named.ts';
import { printJson, printList, printRecord, type Columns, type PrintFlags } from './print.ts';

interface OrgFlags extends ConfigFlags {
  readonly org?: string;
}

const columns: Columns<ReturnType<typeof memberRecord>> = {
  header: ['EMAIL', 'PASSWORD', 'ROLES', 'ADDED', 'ID'],
  row: ({ email, has_password, memberships, created_at, id }) => [
    email,
    has_password ? 'set' : 'not set',
    rolesIn(memberships),
    created_at.slice(0, 10),
    id,
  ],
  none: 'There is no account.',
};

/** `admin user list`. */
export async function listUsers(flags: OrgFlags & PrintFlags): Promise<void> {
  const { org } = flags;
  const listed = async (server: AuthorizationServer) =>
    server.members.list(org === undefined ? undefined : (await organizationNamed(server, org, flags)).id);
  const members = await withAuthorizationServer(flags, listed, { mayMake: true });
  printList(members.map(memberRecord), columns, flags);
}

/** `admin user role`: in an organization of which the account is no member yet, it becomes one. */
export async function setUserRole(email: string, role: Role, flags: OrgFlags): Promise<void> {
  const member = await withAuthorizationServer(flags, async (server) => {
    const { id } = await findAccount(server, email, flags);
    const organization =
      flags.org === undefined
        ? await onlyOrganization(server, { id, email }, flags)
        : await organizationNamed(server, flags.org, flags);
    const changing = server.members.setRole(id, organization.id, role);
    return withAnotherAdmin({ ...flags, org: organization.id }, changing);
  });
  printJson(memberRecord(member));
}

/** `admin user unlock`: also in a gateway that runs, which counts by what is in the store. */
export async function unlockUser(email: string, flags: ConfigFlags & PrintFlags): Promise<void> {
  const { id, wasLocked } = await withAuthorizationServer(flags, async (server) =>
    server.members.unlock((await findAccount(server, email, flags)).id),
  );
  const says = wasLocked
    ? `${email} is no longer locked out.`
    : `${email} was not locked out.\nIf they are refused all the same, too many wrong passwords came from their network: that ends by itself; ${operatorCommand(['audit', '--action', 'network.lock'], flags)} says when.`;
  printRecord({ id, email, was_locked: wasLocked }, () => says, flags);
}

/** `admin user remove`: of one organization, or the account as a whole. */
export async function removeUser(email: string, flags: OrgFlags): Promise<void> {
  const { org } = flags;
  const removed = await withAuthorizationServer(flags, async (server) => {
    const account = await findAccount(server, email, flags);
    const { id } = account;
    if (org === undefined) {
      await withAnotherAdmin(flags, server.members.remove(id));
      return { id, email: account.email, deleted: true };
    }
    const organization = await organizationNamed(server, org, flags);
    await withAnotherAdmin({ ...flags, org: organization.id }, server.members.leave(id, organization.id));
    return { id, email: account.email, left_organization: organization.id };
  });
  printJson(removed);
}

async function onlyOrganization(
  { organizations }: AuthorizationServer,
  { id, email }: { readonly id: string; readonly email: string },
  flags: ConfigFlags,
): Promise<Pick<Organization, 'id'>> {
  const [first, second] = await organizations.of(id);
  if (first && !second) return first.organization;
  throw new ServiceError(
    'invalid_request',
    `${email} is a member of ${first ? 'several organizations' : 'no organization'}: name one with --org; ${operatorCommand(['org', 'list'], flags)} shows them.`,
  );
}
