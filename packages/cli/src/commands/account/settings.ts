import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';

const none =
  'The organization has no managed settings. An admin of it sets them: sallyport admin settings set NAME JSON';

export async function settings(context: Context): Promise<Output> {
  const { client } = await logIn(context);
  const found = await client.account.settings({ signal: context.interrupt.asked });
  if (!found) return { json: null, human: none };
  const rows = Object.entries(found.settings).map(([name, value]) => [name, JSON.stringify(value)]);
  return {
    json: found.settings,
    human: rows.length === 0 ? none : table(['SETTING', 'VALUE'], rows, context.terminal.widthOf('out')),
  };
}
