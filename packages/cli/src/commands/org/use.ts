import { checkedOrganization } from '../../config/keys.ts';
import { logIn, organizationOf, requireMembership } from '../../connect.ts';
import type { Context } from '../../context.ts';
import type { Output } from '../../io/terminal.ts';
import { configSet } from '../config/change.ts';

export async function orgUse(context: Context, _options: object, uuid: string): Promise<Output> {
  const organizationId = checkedOrganization(uuid, 'The organization');
  const loggedIn = await logIn(context);
  await requireMembership(loggedIn.client, organizationId);
  const set = await configSet(context, {}, 'organization', organizationId);
  const own = await organizationOf(context, loggedIn);
  if (own !== undefined && own !== organizationId)
    context.terminal.note('The login is for another organization. For this one: sallyport login');
  return set;
}
