import { decodePlace, pageOf, ServiceError, type Page } from '@sallyport/core';
import { newAccount, shownAccount, type Accounts, type ShownAccount } from './accounts.ts';
import { allPages } from './all-pages.ts';
import type { Context } from './context.ts';
import { tellRevocation } from './grants.ts';
import { unknownOrganization } from './organizations.ts';
import type { PageQuery } from './oversight.ts';
import type { Membership, Role } from './records.ts';

/** An account with the organizations that it is a member of. */
export interface Member extends ShownAccount {
  readonly memberships: readonly Membership[];
}

/** An account as a member of one organization. */
export interface OrganizationMember extends ShownAccount {
  readonly role: Role;
}

/** Which accounts there are, and what they are in which organization. */
export interface Members {
  /** Oldest first; with an organization: its members alone. */
  list(organizationId?: string): Promise<readonly Member[]>;
  /** An organization's, oldest account first. */
  page(organizationId: string, query: PageQuery): Promise<Page<OrganizationMember>>;
  /**
   * Makes the account of that e-mail address a member, and the account itself where there is none. The link sets its
   * password: there is one where the account has none and is a member of nothing else, or it would open others' doors.
   * Throws `invalid_request` for what is no address, `conflict` where it is a member already.
   */
  invite(
    organizationId: string,
    person: { readonly email: string; readonly role: Role },
  ): Promise<{ readonly member: OrganizationMember; readonly setupLink: string | undefined }>;
  /** Changes the role of a member; throws `not_found` where it is none, `conflict` for the last admin. */
  changeRole(accountId: string, organizationId: string, role: Role): Promise<OrganizationMember>;
  /** Makes the account a member, or changes its role; throws `not_found`, `conflict` for the last admin. */
  setRole(accountId: string, organizationId: string, role: Role): Promise<Member>;
  /** What the account holds for the organization ends at once; throws as `setRole` does. */
  leave(accountId: string, organizationId: string): Promise<void>;
  /** Deletes the account with its sessions, logins, keys and devices; throws as `setRole` does. */
  remove(accountId: string): Promise<void>;
}

const noMember = 'The account is not a member of this organization.';

export function createMembers(context: Context, { setupLink }: Pick<Accounts, 'setupLink'>): Members {
  const { store, clock, log } = context;
  const { acts, reads } = store;

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
    async page(organizationId, { limit, offset }) {
      const after = offset === undefined ? undefined : decodePlace(offset);
      const { items, next } = pageOf(await reads.members({ organizationId, after, limit: limit + 1 }), limit);
      return { items: items.map(({ role, ...account }) => ({ ...shownAccount(account), role })), next };
    },
    async invite(organizationId, { email, role }) {
      const added = await acts.addMember({ account: newAccount(context, email), organizationId, role });
      if (added.outcome === 'member')
        throw new ServiceError('conflict', 'The account is a member of this organization already.');
      log.info({ accountId: added.account.id, organizationId, role }, 'a member was added');
      return {
        member: { ...shownAccount(added.account), role },
        setupLink: added.isUnused ? await setupLink(added.account.id) : undefined,
      };
    },
    async changeRole(accountId, organizationId, role) {
      const given = { accountId, organizationId, role, membersOnly: true };
      check(await acts.setRole(given), noMember);
      tellRevocation(context);
      log.info({ accountId, organizationId, role }, 'a role was given');
      const account = await reads.account({ accountId });
      if (!account) throw new ServiceError('not_found', noMember);
      return { ...shownAccount(account), role };
    },
    async setRole(accountId, organizationId, role) {
      if (!(await reads.organization({ organizationId }))) throw unknownOrganization();
      check(await acts.setRole({ accountId, organizationId, role }), 'There is no such account.');
      tellRevocation(context);
      log.info({ accountId, organizationId, role }, 'a role was given');
      const account = await reads.account({ accountId });
      if (!account) throw new ServiceError('not_found', 'There is no such account.');
      return { ...shownAccount(account), memberships: await memberships(accountId) };
    },
    async leave(accountId, organizationId) {
      const outcome = await acts.endMembership({ accountId, organizationId, now: clock.now() });
      check(outcome, noMember);
      tellRevocation(context);
      log.info({ accountId, organizationId }, 'a membership was ended');
    },
    async remove(accountId) {
      check((await acts.removeAccount({ accountId })).outcome, 'There is no such account.');
      tellRevocation(context);
      log.info({ accountId }, 'an account was removed');
    },
  };
}
