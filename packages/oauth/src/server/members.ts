import { ServiceError } from '@sallyport/core';
import { shownAccount, type ShownAccount } from './accounts.ts';
import { allPages } from './all-pages.ts';
import type { Context } from './context.ts';
import { tellRevocation } from './grants.ts';
import { unknownOrganization } from './organizations.ts';
import type { Membership, Role } from './records.ts';

/** An account with the organizations that it is a member of. */
export interface Member extends ShownAccount {
  readonly memberships: readonly Membership[];
}

/** Which accounts there are, and what they are in which organization. */
export interface Members {
  /** Oldest first; with an organization: its members alone. */
  list(organizationId?: string): Promise<readonly Member[]>;
  /** Makes the account a member, or changes its role; throws `not_found`, `conflict` for the last admin. */
  setRole(accountId: string, organizationId: string, role: Role): Promise<Member>;
  /** What the account holds for the organization ends at once; throws as `setRole` does. */
  leave(accountId: string, organizationId: string): Promise<void>;
  /** Deletes the account with its sessions, logins, keys and devices; throws as `setRole` does. */
  remove(accountId: string): Promise<void>;
}

export function createMembers(context: Context): Members {
  const { log } = context;
  const { acts, reads } = context.store;

  function check(outcome: 'done' | 'unknown' | 'last_admin', what: string): void {
    if (outcome === 'last_admin')
      throw new ServiceError(
        'conflict',
        'The account is the last admin of an organization: make another account an admin of it first.',
      );
    if (outcome === 'unknown') throw new ServiceError('not_found', what);
  }

  async function memberships(accountId: string): Promise<readonly Membership[]> {
    return reads.memberships({ accountId });
  }

  return {
    async list(organizationId) {
      const accounts = await allPages((page) => reads.accounts(page));
      const members = await Promise.all(
        accounts.map(async (account) => ({
          ...shownAccount(account),
          memberships: await memberships(account.id),
        })),
      );
      if (organizationId === undefined) return members;
      return members.filter((member) =>
        member.memberships.some(({ organization }) => organization.id === organizationId),
      );
    },
    async setRole(accountId, organizationId, role) {
      if (!(await reads.organization({ organizationId }))) throw unknownOrganization();
      check(await acts.setRole({ accountId, organizationId, role }), 'There is no such account.');
      log.info({ accountId, organizationId, role }, 'a role was given');
      const account = await reads.account({ accountId });
      if (!account) throw new ServiceError('not_found', 'There is no such account.');
      return { ...shownAccount(account), memberships: await memberships(accountId) };
    },
    async leave(accountId, organizationId) {
      const outcome = await acts.endMembership({ accountId, organizationId });
      check(outcome, 'The account is not a member of this organization.');
      tellRevocation(context);
      log.info({ accountId, organizationId }, 'a membership was ended');
    },
    async remove(accountId) {
      check(await acts.removeAccount({ accountId }), 'There is no such account.');
      tellRevocation(context);
      log.info({ accountId }, 'an account was removed');
    },
  };
}
