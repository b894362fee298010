import { pages } from '@sallyport/core/client';
import { contract } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { connect, type Connection } from '../../connect.ts';
import { ago } from '../../io/ago.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { take, type TakeOptions } from '../take.ts';

const header = ['ID', 'STATUS', 'CREATED', 'ENVIRONMENT', 'TITLE'];

export async function sessionList(context: Context, options: TakeOptions): Promise<Output> {
  const connection = await connect(context);
  const sessions = await take(context, options, (limit) => sessionPages(context, connection, limit));
  const now = context.clock.now();
  const rows = sessions.map((each) => [
    each.id,
    each.status,
    ago(each.created_at, now),
    each.environment_id,
    each.title,
  ]);
  const human =
    rows.length === 0 ? 'No sessions yet.\nStart one: sallyport session run "..."' : table(header, rows);
  return { json: sessions, human };
}

async function* sessionPages(context: Context, { clientOptions }: Connection, limit: number) {
  const call = { signal: context.interrupt.asked };
  for await (const { body } of pages(clientOptions, contract.sessions.list, { query: { limit } }, call))
    yield body;
}
