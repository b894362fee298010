import type { Client } from '@sallyport/core/client';
import { checkedOrganization, organizationId } from '../config/keys.ts';
import type { Context } from '../context.ts';
import { toFailure } from '../io/failure.ts';
import { organizationNamed, organizationsOf } from '../organizations.ts';

/** The UUID of an organization that was given by it or by its name, which a login knows. `origin` says who gave it. */
export async function organizationIdOf(context: Context, given: string, origin: string): Promise<string> {
  const id = organizationId(given);
  if (id !== undefined) return id;
  const { logInToAccount } = await import('../connect.ts');
  const client = await logInToAccount(context).then(
    (loggedIn): Client => loggedIn.client,
    (error: unknown) => {
      if (toFailure(error).code !== 'login_required') throw error;
      return undefined;
    },
  );
  if (client === undefined) return checkedOrganization(given, origin);
  return organizationNamed(await organizationsOf(client, { signal: context.interrupt.asked }), given).uuid;
}
