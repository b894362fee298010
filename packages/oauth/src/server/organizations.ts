import { ServiceError } from '@sallyport/core';
import { nameForm } from '@sallyport/core/contract';
import type { Context } from './context.ts';
import { allPages } from './all-pages.ts';
import type { OrganizationChanges } from './acts.ts';
import type { Membership, Organization } from './records.ts';

/** What accounts are members of. */
export interface Organizations {
  /** A new one has the type and capabilities of the first. */
  add(input: { readonly name: string; readonly zeroDataRetention?: boolean }): Promise<Organization>;
  get(organizationId: string): Promise<Organization | undefined>;
  /** Oldest first. */
  list(): Promise<readonly Organization[]>;
  /** Throws `invalid_request` for a bad tier or capability, `not_found`. */
  change(organizationId: string, changes: OrganizationChanges): Promise<Organization>;
  /** Those of an account, the oldest first. */
  of(accountId: string): Promise<readonly Membership[]>;
}

export function createOrganizations(context: Context): Organizations {
  const { log } = context;
  const { acts, reads } = context.store;
  return {
    async add({ name, zeroDataRetention = false }) {
      if (name.trim() === '' || !nameForm.test(name.trim()))
        throw new ServiceError('invalid_request', 'The organization needs a name that can be seen.');
      const organization = newOrganization(context, name.trim(), zeroDataRetention);
      await acts.addOrganization({ organization });
      return organization;
    },
    list: () => allPages((page) => reads.organizations(page)),
    async change(organizationId, changes) {
      const { rateLimitTier, capabilities = [] } = changes;
      if (rateLimitTier !== undefined && !isWord(rateLimitTier))
        throw new ServiceError('invalid_request', `A tier is ${word}.`);
      if (capabilities.length > 100 || !capabilities.every(isWord))
        throw new ServiceError('invalid_request', `A capability is ${word}, and there are at most 100.`);
      const changed = await acts.changeOrganization({
        organizationId,
        changes: { ...changes, ...(changes.capabilities && { capabilities: [...new Set(capabilities)] }) },
      });
      if (!changed) throw unknownOrganization();
      log.info({ organizationId, ...changes }, 'an organization was changed');
      return changed;
    },
    get: (organizationId) => reads.organization({ organizationId }),
    of: (accountId) => reads.memberships({ accountId }),
  };
}

export function unknownOrganization(): ServiceError {
  return new ServiceError('not_found', 'The organization is not known.');
}

const word = 'a word of at most 64 letters, digits and _ . : -';

function isWord(text: string): boolean {
  return /^[\w.:-]{1,64}$/.test(text);
}

export function newOrganization(
  { ids, clock }: Pick<Context, 'ids' | 'clock'>,
  name: string,
  zeroDataRetention = false,
): Organization {
  return {
    id: ids.uuid(),
    name,
    type: 'agent_team',
    rateLimitTier: 'default',
    capabilities: ['agent_code'],
    zeroDataRetention,
    createdAt: clock.now(),
  };
}
