import type { Context } from '../../context.ts';
import { connect } from '../../connect.ts';
import { ago } from '../../io/ago.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';

const header = ['ID', 'STATUS', 'CREATED', 'ENVIRONMENT', 'TITLE'];

export async function sessionList(context: Context, options: { readonly limit: number }): Promise<Output> {
  const { client } = await connect(context);
  const sessions = await client.sessions.list({
    query: { limit: options.limit },
    signal: context.interrupt.asked,
  });
  const now = context.clock.now();
  const rows = sessions.map((each) => [
    each.id,
    each.status,
    ago(each.created_at, now),
    each.environment_id,
    each.title,
  ]);
  const human = rows.length === 0 ? 'No sessions yet.' : table(header, rows);
  return { json: sessions, human };
}
