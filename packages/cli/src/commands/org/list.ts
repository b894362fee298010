import { logInToAccount } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { organizationsCalled, organizationsOf } from '../../organizations.ts';

export async function orgList(context: Context): Promise<Output> {
  const { client, ownOrganizationId } = await logInToAccount(context);
  const all = await organizationsOf(client, { signal: context.interrupt.asked });
  const { organization: chosen = ownOrganizationId } = context.settings;
  const used = chosen === undefined ? all : organizationsCalled(all, chosen);
  const organizations = all.map((organization) => ({
    ...organization,
    // The only one needs no choosing.
    in_use: used.length === 1 && used.includes(organization),
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
    human:
      rows.length === 0
        ? none
        : table(['', 'UUID', 'NAME', 'CAPABILITIES'], rows, context.terminal.widthOf('out')),
  };
}
