import type { Client } from '@sallyport/core/client';
import type { Bootstrap } from '@sallyport/core/contract';
import { organizationsMeant } from '@sallyport/core/organization';
import { CommandError, exitCodes } from './io/exit.ts';
import { printable } from './io/printable.ts';

type Organization = Bootstrap['account']['memberships'][number]['organization'];

/** Those that the account is a member of. */
export async function organizationsOf(
  client: Client,
  call: { readonly bearer?: string; readonly signal?: AbortSignal },
): Promise<readonly Organization[]> {
  const { account } = await client.account.bootstrap(call);
  return account.memberships.map(({ organization }) => organization);
}

/** Those that a person means by a UUID or a name. */
export function organizationsCalled(all: readonly Organization[], given: string): readonly Organization[] {
  return organizationsMeant(all, given, ({ uuid: id, name }) => ({ id, name }));
}

/**
 * The only one of that UUID or name. Throws `unknown_organization`: it may be of another gateway, or of another account; and
 * `ambiguous_organization`.
 */
export function organizationNamed(all: readonly Organization[], given: string): Organization {
  const found = organizationsCalled(all, given);
  const [only, ...others] = found;
  if (only === undefined) {
    throw new CommandError(
      'unknown_organization',
      `This login has no membership in the organization ${given}.`,
      exitCodes.notLoggedIn,
      `It has one in ${shownAll(all) || 'none'}. See where a setting comes from: sallyport config list --show-origin`,
    );
  }
  if (others.length > 0) {
    throw new CommandError(
      'ambiguous_organization',
      `Several organizations of this account are called ${given}: ${shownAll(found)}.`,
      exitCodes.usage,
      'Name one by its UUID.',
    );
  }
  return only;
}

/** An organization as people call it, and as commands take it; a service of another make may give no name. */
export function shownOrganization({ uuid, name }: Organization): string {
  return name === undefined ? uuid : `${printable(name)} (${uuid})`;
}

/** The same for one that may be none of the account's any more. */
export function shownById(all: readonly Organization[], id: string): string {
  const found = all.find(({ uuid }) => uuid === id);
  return found ? shownOrganization(found) : id;
}

function shownAll(organizations: readonly Organization[]): string {
  return organizations.map(shownOrganization).join(', ');
}
