import { ServiceError } from '@sallyport/core';
import type { AuthorizationServer, Organization, Role } from '@sallyport/oauth/server';
import { findAccount, memberRecord, rolesIn } from './accounts.ts';
import { withAuthorizationServer } from './authorization.ts';
import type { ConfigFlags } from './flags.ts';
import { organizationNamed } from './organization-named.ts';
import { printJson, printList, type Columns, type PrintFlags } from './print.ts';

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
  const members = await withAuthorizationServer(flags, async (server) => {
    return server.members.list(org === undefined ? undefined : (await organizationNamed(server, org)).id);
  });
  printList(members.map(memberRecord), columns, flags);
}

/** `admin user role`: in an organization of which the account is no member yet, it becomes one. */
export async function setUserRole(email: string, role: Role, flags: OrgFlags): Promise<void> {
  const member = await withAuthorizationServer(flags, async (server) => {
    const { id } = await findAccount(server.accounts, email);
    const organization =
      flags.org === undefined
        ? await onlyOrganization(server, id, email)
        : await organizationNamed(server, flags.org);
    return server.members.setRole(id, organization.id, role);
  });
  printJson(memberRecord(member));
}

/** `admin user remove`: of one organization, or the account as a whole. */
export async function removeUser(email: string, flags: OrgFlags): Promise<void> {
  const { org } = flags;
  const removed = await withAuthorizationServer(flags, async (server) => {
    const account = await findAccount(server.accounts, email);
    const { id } = account;
    if (org === undefined) {
      await server.members.remove(id);
      return { id, email: account.email, deleted: true };
    }
    const organization = await organizationNamed(server, org);
    await server.members.leave(id, organization.id);
    return { id, email: account.email, left_organization: organization.id };
  });
  printJson(removed);
}

async function onlyOrganization(
  { organizations }: AuthorizationServer,
  accountId: string,
  email: string,
): Promise<Pick<Organization, 'id'>> {
  const [first, second] = await organizations.of(accountId);
  if (first && !second) return first.organization;
  throw new ServiceError(
    'invalid_request',
    `${email} is a member of ${first ? 'several organizations' : 'no organization'}: name one with --org; \`sallyport-gateway admin org list\` shows them.`,
  );
}
