import { decodePlace, pageOf, ServiceError, type Page } from '@sallyport/core';
import { newAccount, shownAccount, unknownAccount, type Accounts, type ShownAccount } from './accounts.ts';
import { allPages } from './all-pages.ts';
import type { Context } from './context.ts';
import { tellRevocation } from './grants.ts';
import { unknownOrganization } from './organizations.ts';
import type { PageQuery } from './oversight.ts';
import type { Membership, Role, SetupLink } from './records.ts';

/** An account with the organizations that it is a member of. */
export interface Member extends ShownAccount {
  readonly memberships: readonly Membership[];
}

/** An account as a member of one organization. */
export interface OrganizationMember extends ShownAccount {
  readonly role: Role;
}

/** An account whose wrong passwords so far count no more; `wasLocked`: they had locked it somewhere. */
export interface Unlocked {
  readonly id: string;
  readonly email: string;
  readonly wasLocked: boolean;
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
  ): Promise<{ readonly member: OrganizationMember; readonly setupLink: SetupLink | undefined }>;
  /** Changes the role of a member; throws `not_found` where it is none, `conflict` for the last admin. */
  changeRole(accountId: string, organizationId: string, role: Role): Promise<OrganizationMember>;
  /** Makes the account a member, or changes its role; throws `not_found`, `conflict` for the last admin. */
  setRole(accountId: string, organizationId: string, role: Role): Promise<Member>;
  /** Ends the account's lock-outs, wherever they are; with an organization: of its member. Throws `not_found`. */
  unlock(accountId: string, organizationId?: string): Promise<Unlocked>;
  /** What the account holds for the organization ends at once; throws as `setRole` does. */
  leave(accountId: string, organizationId: string): Promise<void>;
  /** Deletes the account with its sessions, logins, keys and devices; throws as `setRole` does. */
  remove(accountId: string): Promise<void>;
}

export function createMembers(context: Context, { setupLink }: Pick<Accounts, 'setupLink'>): Members {
  const { store, clock, log, config } = context;
  const { acts, reads } = store;

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
      const { items, next } = pageOf(await reads.members({ organizationId, after, limit }));
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
      checkOutcome(await acts.setRole(given), unknownMember);
      tellRevocation(context);
      log.info({ accountId, organizationId, role }, 'a role was given');
      const account = await reads.account({ accountId });
      if (!account) throw unknownMember();
      return { ...shownAccount(account), role };
    },
    async setRole(accountId, organizationId, role) {
      if (!(await reads.organization({ organizationId }))) throw unknownOrganization();
      checkOutcome(await acts.setRole({ accountId, organizationId, role }), unknownAccount);
      tellRevocation(context);
      log.info({ accountId, organizationId, role }, 'a role was given');
      const account = await reads.account({ accountId });
      if (!account) throw unknownAccount();
      return { ...shownAccount(account), memberships: await memberships(accountId) };
    },
    async unlock(accountId, organizationId) {
      const windowMs = config.failures.windowSeconds * 1000;
      const unlocked = await acts.unlockAccount({ accountId, organizationId, now: clock.now(), windowMs });
      if (!unlocked) throw organizationId === undefined ? unknownAccount() : unknownMember();
      log.info({ accountId }, 'an account was unlocked');
      return { id: accountId, ...unlocked };
    },
    async leave(accountId, organizationId) {
      const outcome = await acts.endMembership({ accountId, organizationId, now: clock.now() });
      checkOutcome(outcome, unknownMember);
      tellRevocation(context);
      log.info({ accountId, organizationId }, 'a membership was ended');
    },
    async remove(accountId) {
      checkOutcome((await acts.removeAccount({ accountId })).outcome, unknownAccount);
      tellRevocation(context);
      log.info({ accountId }, 'an account was removed');
    },
  };
}

/** Throws what a change of an account or of its memberships is refused with. */
export function checkOutcome(outcome: 'done' | 'unknown' | 'last_admin', unknown: () => ServiceError): void {
  if (outcome === 'unknown') throw unknown();
  if (outcome === 'last_admin')
    throw new ServiceError(
      'conflict',
      'The account is the last admin of an organization: make another account an admin of it first.',
    );
}

function unknownMember(): ServiceError {
  return new ServiceError('not_found', 'The account is not a member of this organization.');
}
