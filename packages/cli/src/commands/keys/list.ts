import { logIn } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { ago } from '../../io/ago.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';

export async function keysList(context: Context): Promise<Output> {
  const { client } = await logIn(context);
  const { api_keys: keys } = await client.oauth.listApiKeys({ signal: context.interrupt.asked });
  const now = context.clock.now();
  const rows = keys.map((key) => [
    key.id,
    key.name ?? '-',
    ago(key.created_at, now),
    key.last_used_at === null ? 'never' : ago(key.last_used_at, now),
    key.expires_at ?? 'never',
    key.scope,
  ]);
  const none = 'No API keys yet.\nCreate one: sallyport keys create --name NAME';
  const header = ['ID', 'NAME', 'CREATED', 'LAST USED', 'EXPIRES', 'SCOPE'];
  return {
    json: keys,
    human: rows.length === 0 ? none : table(header, rows, context.terminal.widthOf('out')),
  };
}
