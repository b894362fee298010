import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';

export async function roles(context: Context): Promise<Output> {
  const { client } = await logIn(context);
  const { roles: found } = await client.oauth.roles({ signal: context.interrupt.asked });
  const rows = found.map(({ name, permissions }) => [name, permissions.join(', ')]);
  return { json: found, human: table(['ROLE', 'PERMISSIONS'], rows, context.terminal.widthOf('out')) };
}
