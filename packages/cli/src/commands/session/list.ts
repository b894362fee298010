import { pages } from '@sallyport/core/client';
import { contract, type Session } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { connect, type Connection } from '../../connect.ts';
import { ago } from '../../io/ago.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { take, type TakeOptions } from '../take.ts';
import { ownAccount, saysNobody, startedBy, startedByOwn } from './started-by.ts';

export interface SessionListOptions extends TakeOptions {
  readonly mine?: boolean;
}

export async function sessionList(
  context: Context,
  { mine = false, ...options }: SessionListOptions,
): Promise<Output> {
  const connection = await connect(context);
  const own = mine ? await ownAccount(context, connection) : undefined;
  if (mine && own === undefined) throw saysNobody();
  const sessions = await take(context, options, (limit) => sessionPages(context, connection, { limit, own }));
  if (sessions.length === 0) {
    const none = mine ? 'No sessions of yours yet.' : 'No sessions yet.';
    return { json: sessions, human: `${none}\nStart one: sallyport session run "..."` };
  }
  const isOfOthers = !mine && !context.terminal.json && (await hasOthers(context, connection, sessions));
  return { json: sessions, human: asTable(sessions, { now: context.clock.now(), isOfOthers }) };
}

async function* sessionPages(
  context: Context,
  { clientOptions }: Connection,
  { limit, own }: { readonly limit: number; readonly own: string | undefined },
) {
  const call = { signal: context.interrupt.asked };
  const query = { limit, ...(own !== undefined && { account_id: own }) };
  for await (const { body } of pages(clientOptions, contract.sessions.list, { query }, call))
    yield own === undefined ? body : startedByOwn(body, own);
}

/** Whether somebody else started one of them: whoever works alone need not be told on every line. */
async function hasOthers(
  context: Context,
  connection: Connection,
  sessions: readonly Session[],
): Promise<boolean> {
  const ids = new Set(sessions.flatMap(({ account }) => account?.id ?? []));
  if (ids.size !== 1) return ids.size > 1;
  // Who cannot be told apart may be anybody: the list itself is there.
  const own = await ownAccount(context, connection).catch(() => undefined);
  return own === undefined || !ids.has(own);
}

function asTable(
  sessions: readonly Session[],
  { now, isOfOthers }: { readonly now: number; readonly isOfOthers: boolean },
): string {
  const header = ['ID', 'STATUS', 'CREATED', 'ENVIRONMENT', ...(isOfOthers ? ['STARTED BY'] : []), 'TITLE'];
  const rows = sessions.map((each) => [
    each.id,
    each.status,
    ago(each.created_at, now),
    each.environment_id,
    ...(isOfOthers ? [startedBy(each)] : []),
    each.title,
  ]);
  return table(header, rows);
}
