import type { Context } from '../../context.ts';
import { connect } from '../../connect.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';

export async function sessionList(context: Context, options: { readonly limit: number }): Promise<Output> {
  const { client } = await connect(context);
  const sessions = await client.sessions.list({
    query: { limit: options.limit },
    signal: context.interrupt.asked,
  });
  const rows = sessions.map((each) => [each.id, each.status, each.created_at, each.title]);
  const human = rows.length === 0 ? 'No sessions yet.' : table(['ID', 'STATUS', 'CREATED', 'TITLE'], rows);
  return { json: sessions, human };
}
