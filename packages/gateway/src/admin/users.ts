import { ServiceError } from '@sallyport/core';
import type { AuthorizationServer, Member, Role } from '@sallyport/oauth/server';
import { accountRecord, findAccount, printJson } from './accounts.ts';
import { withAuthorizationServer } from './authorization.ts';
import type { ConfigFlags } from './flags.ts';
import { requireOrganization } from './organizations.ts';

interface OrgFlags extends ConfigFlags {
  readonly org?: string;
}

/** `admin user list`. */
export async function listUsers(flags: OrgFlags): Promise<void> {
  const { org } = flags;
  const members = await withAuthorizationServer(flags, async (server) => {
    if (org !== undefined) await requireOrganization(server, org);
    return server.members.list(org);
  });
  printJson(members.map(memberRecord));
}

/** `admin user role`: in an organization of which the account is no member yet, it becomes one. */
export async function setUserRole(email: string, role: Role, flags: OrgFlags): Promise<void> {
  const member = await withAuthorizationServer(flags, async (server) => {
    const { id } = await findAccount(server.accounts, email);
    const organizationId = flags.org ?? (await onlyOrganization(server, id, email));
    await requireOrganization(server, organizationId);
    return server.members.setRole(id, organizationId, role);
  });
  printJson(memberRecord(member));
}

/** `admin user remove`: of one organization, or the account as a whole. */
export async function removeUser(email: string, flags: OrgFlags): Promise<void> {
  const { org } = flags;
  const removed = await withAuthorizationServer(flags, async (server) => {
    const account = await findAccount(server.accounts, email);
    if (org === undefined) await server.members.remove(account.id);
    else {
      await requireOrganization(server, org);
      await server.members.leave(account.id, org);
    }
    return { id: account.id, email: account.email };
  });
  printJson({ ...removed, ...(org === undefined ? { deleted: true } : { left_organization: org }) });
}

async function onlyOrganization(
  { organizations }: AuthorizationServer,
  accountId: string,
  email: string,
): Promise<string> {
  const [first, second] = await organizations.of(accountId);
  if (first && !second) return first.organization.id;
  throw new ServiceError(
    'invalid_request',
    `${email} is a member of ${first ? 'several organizations' : 'no organization'}: name one with --org; \`sallyport-gateway admin org list\` shows them.`,
  );
}

function memberRecord(member: Member) {
  return {
    ...accountRecord(member),
    memberships: member.memberships.map(({ organization: { id, name }, role }) => ({
      organization: { id, name },
      role,
    })),
  };
}
