import { pages } from '@sallyport/core/client';
import { contract, type Session, type SessionStatus } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { connect, type Connection } from '../../connect.ts';
import { ago } from '../../io/ago.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { accountName } from '../account-name.ts';
import { environmentNamed } from '../environment-named.ts';
import { hasOthers } from '../others.ts';
import { take, type TakeOptions } from '../take.ts';
import { fitting, toQuery, type SessionFilters } from './filters.ts';
import { ownAccount, saysNobody } from './started-by.ts';

const longestTitle = 60;

export interface SessionListOptions extends TakeOptions {
  readonly mine?: boolean;
  /** An e-mail address, or `me`. */
  readonly by?: string;
  readonly env?: string;
  readonly status: readonly SessionStatus[];
  readonly tag?: string;
}

export async function sessionList(
  context: Context,
  { by, mine = by === 'me', env, status: statuses, tag, ...options }: SessionListOptions,
): Promise<Output> {
  const connection = await connect(context);
  const own = mine ? await ownAccount(context, connection) : undefined;
  if (mine && own === undefined) throw saysNobody();
  const environmentId =
    env === undefined ? undefined : await environmentNamed(connection, env, context.interrupt.asked);
  const email = mine ? undefined : by;
  const filters = { own, email, environmentId, statuses, tag };
  const sessions = await take(context, options, (limit) => sessionPages(context, connection, limit, filters));
  if (sessions.length === 0) {
    const isFiltered =
      email !== undefined || environmentId !== undefined || statuses.length > 0 || tag !== undefined;
    const none = isFiltered ? 'No session matches.' : mine ? 'No sessions of yours yet.' : 'No sessions yet.';
    const next = isFiltered ? 'See all: sallyport session list' : 'Start one: sallyport session run "..."';
    return { json: sessions, human: `${none}\n${next}` };
  }
  const isOfOthers = !mine && !context.terminal.json && (await hasOthers(context, connection, sessions));
  return { json: sessions, human: asTable(context, sessions, isOfOthers) };
}

async function* sessionPages(
  context: Context,
  { clientOptions }: Connection,
  limit: number,
  filters: SessionFilters,
) {
  const call = { signal: context.interrupt.asked };
  const query = { limit, ...toQuery(filters) };
  for await (const { body } of pages(clientOptions, contract.sessions.list, { query }, call))
    yield fitting(body, filters);
}

function asTable({ terminal, clock }: Context, sessions: readonly Session[], isOfOthers: boolean): string {
  const width = terminal.widthOf('out');
  const now = clock.now();
  const header = ['ID', 'STATUS', 'CREATED', 'ENVIRONMENT', ...(isOfOthers ? ['STARTED BY'] : []), 'TITLE'];
  const rows = sessions.map((each) => [
    each.id,
    each.status,
    ago(each.created_at, now),
    each.environment_id,
    ...(isOfOthers ? [accountName(each)] : []),
    width === Infinity ? each.title : shortened(each.title),
  ]);
  return table(header, rows, width);
}

/** A title may be a whole prompt, and one that is long would take the line from all others. */
function shortened(title: string): string {
  return title.length <= longestTitle ? title : `${title.slice(0, longestTitle - 1).trimEnd()}…`;
}
