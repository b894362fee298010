import { ServiceError } from '@sallyport/core';
import type { Context } from './context.ts';
import { tellRevocation } from './grants.ts';
import { unknownOrganization } from './organizations.ts';

/** What the authorization server keeps of an organization, for its deletion; the accounts of its members stay. */
export interface OAuthOrganizationData {
  /**
   * The first step: nobody can call for the organization any more, so that nothing of it is added while it is erased
   * elsewhere. Throws `not_found`, `conflict` for the first one.
   */
  close(organizationId: string): Promise<void>;
  /** The last step: the organization itself, with its settings. Until it is done, all of a deletion can be repeated. */
  erase(organizationId: string): Promise<void>;
}

export function createOrganizationData(context: Context): OAuthOrganizationData {
  const { acts } = context.store;
  return {
    async close(organizationId) {
      const outcome = await acts.closeOrganization({ organizationId });
      if (outcome === 'unknown') throw unknownOrganization();
      // Another one's admins would come into charge of the clients of all.
      if (outcome === 'first')
        throw new ServiceError(
          'conflict',
          "It is the installation's first organization, whose admins look after the OAuth clients of all: it stays.",
        );
      tellRevocation(context);
    },
    async erase(organizationId) {
      await acts.eraseOrganization({ organizationId });
      context.log.info({ organizationId }, 'an organization was erased');
    },
  };
}
