import { ServiceError } from '@sallyport/core';
import { organizationsMeant } from '@sallyport/core/organization';
import type { AuthorizationServer, Organization } from '@sallyport/oauth/server';
import type { ConfigFlags } from './flags.ts';
import { operatorCommand } from './operator-command.ts';

/** The organization of that id, or the only one of that name. Throws `not_found`, or `invalid_request` for several. */
export async function organizationNamed(
  { organizations }: Pick<AuthorizationServer, 'organizations'>,
  given: string,
  flags: ConfigFlags,
): Promise<Organization> {
  const [only, ...others] = organizationsMeant(await organizations.list(), given, (each) => each);
  if (only === undefined)
    throw new ServiceError(
      'not_found',
      `There is no organization with the id or the name ${given}: ${operatorCommand(['org', 'list'], flags)} shows those that there are.`,
    );
  if (others.length > 0)
    throw new ServiceError(
      'invalid_request',
      `Several organizations are called ${given}: name one by its id, of ${[only, ...others].map(({ id }) => id).join(', ')}.`,
    );
  return only;
}
