import { inDialect, ServiceError } from '@sallyport/core';
import type { Bootstrap, Profile } from '@sallyport/core/contract';
import type { Context } from './context.ts';

/** What the service tells of accounts and organizations, in the deployment's dialect. */
export interface Profiles {
  /** The organization of a token, and whose the token is. */
  profile(owner: { readonly accountId: string; readonly organizationId: string }): Promise<Profile>;
  /** The account and its organizations; without an account the default one in single-user mode, else nobody. */
  bootstrap(accountId: string | undefined): Promise<Bootstrap>;
}

const nobody = '00000000-0000-0000-0000-000000000000';

export function createProfiles({ store, dialect, config }: Context): Profiles {
  const { reads } = store;
  return {
    async profile({ accountId, organizationId }) {
      const account = await reads.account({ accountId });
      const membership = (await reads.memberships({ accountId })).find(
        ({ organization }) => organization.id === organizationId,
      );
      if (!account || !membership)
        throw new ServiceError('forbidden', 'The account is not a member of this organization.');
      const { organization, role } = membership;
      return {
        organization: {
          organization_type: inDialect(organization.type, dialect),
          rate_limit_tier: organization.rateLimitTier,
          uuid: organization.id,
          name: organization.name,
        },
        account: { uuid: account.id, email: account.email, role },
      };
    },
    async bootstrap(accountId) {
      const uuid = accountId ?? (config.singleUser ? (await reads.defaultAccount())?.id : undefined);
      const memberships = uuid === undefined ? [] : await reads.memberships({ accountId: uuid });
      return {
        account: {
          uuid: uuid ?? nobody,
          memberships: memberships.map(({ organization }) => ({
            organization: {
              uuid: organization.id,
              capabilities: organization.capabilities.map((name) => inDialect(name, dialect)),
            },
          })),
        },
      };
    },
  };
}
