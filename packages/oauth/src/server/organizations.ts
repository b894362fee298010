import { ServiceError } from '@sallyport/core';
import type { Context } from './context.ts';
import type { Membership, Organization } from './records.ts';

/** What accounts are members of. */
export interface Organizations {
  /** A new one has the type and capabilities of the first. */
  add(input: { readonly name: string; readonly zeroDataRetention?: boolean }): Promise<Organization>;
  get(organizationId: string): Promise<Organization | undefined>;
  /** Those of an account, the oldest first. */
  of(accountId: string): Promise<readonly Membership[]>;
}

export function createOrganizations(context: Context): Organizations {
  const { acts, reads } = context.store;
  return {
    async add({ name, zeroDataRetention = false }) {
      if (name.trim() === '') throw new ServiceError('invalid_request', 'The organization needs a name.');
      const organization = newOrganization(context, name.trim(), zeroDataRetention);
      await acts.addOrganization({ organization });
      return organization;
    },
    get: (organizationId) => reads.organization({ organizationId }),
    of: (accountId) => reads.memberships({ accountId }),
  };
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
