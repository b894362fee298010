import { inDialect } from '@sallyport/core';
import {
  nobodyId,
  type Bootstrap,
  type CurrentUserAccess,
  type Profile,
  type Roles,
} from '@sallyport/core/contract';
import { noMember } from './authorize.ts';
import type { Context } from './context.ts';
import { unknownOrganization } from './organizations.ts';
import type { Role } from './records.ts';
import { permissionsOf } from './roles.ts';

/** What the service tells of accounts and organizations, in the deployment's dialect. */
export interface Profiles {
  /** The organization of a token, and whose the token is. */
  profile(owner: { readonly accountId: string; readonly organizationId: string }): Promise<Profile>;
  /** The account and its organizations; without an account the default one in single-user mode, else nobody. */
  bootstrap(accountId: string | undefined): Promise<Bootstrap>;
  /** The roles that there are. */
  roles(): Roles;
  /** What the account may do there; throws `not_found` for an organization that is none, `forbidden` to whom is no member. */
  access(accountId: string, organizationId: string): Promise<CurrentUserAccess>;
}

export function createProfiles({ store, dialect, config }: Context): Profiles {
  const { reads } = store;
  return {
    async profile({ accountId, organizationId }) {
      const account = await reads.account({ accountId });
      const membership = (await reads.memberships({ accountId })).find(
        ({ organization }) => organization.id === organizationId,
      );
      if (!account || !membership) throw noMember();
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
          uuid: uuid ?? nobodyId,
          memberships: memberships.map(({ organization }) => ({
            organization: {
              uuid: organization.id,
              capabilities: organization.capabilities.map((name) => inDialect(name, dialect)),
              name: organization.name,
            },
          })),
        },
      };
    },
    roles: () => ({
      roles: Object.entries(permissionsOf).map(([name, permissions]) => ({
        name: name as Role,
        permissions: [...permissions],
      })),
    }),
    async access(accountId, organizationId) {
      const memberships = await reads.memberships({ accountId });
      const membership = memberships.find(({ organization }) => organization.id === organizationId);
      if (membership)
        return { access_level: membership.role, permissions: [...permissionsOf[membership.role]] };
      throw (await reads.organization({ organizationId })) ? noMember() : unknownOrganization();
    },
  };
}
