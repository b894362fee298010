import { logIn, organizationOf } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';

export async function orgList(context: Context): Promise<Output> {
  const loggedIn = await logIn(context);
  const { account } = await loggedIn.client.account.bootstrap({ signal: context.interrupt.asked });
  const used = context.settings.organizationId ?? (await organizationOf(context, loggedIn));
  const { memberships } = account;
  const organizations = memberships.map(({ organization }) => ({
    ...organization,
    // The only one needs no choosing.
    in_use: organization.uuid === used || (used === undefined && memberships.length === 1),
  }));
  const rows = organizations.map(({ uuid, name = '', capabilities, in_use }) => [
    in_use ? '*' : '',
    uuid,
    name,
    capabilities.join(', '),
  ]);
  const none = 'This account belongs to no organization.';
  return {
    json: organizations,
    human: rows.length === 0 ? none : table(['', 'UUID', 'NAME', 'CAPABILITIES'], rows),
  };
}
