import { pages } from '@sallyport/core/client';
import { ServiceError } from '@sallyport/core';
import { contract, type SessionEvent } from '@sallyport/core/contract';
import { connect, type Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { ago } from '../../io/ago.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { gather, largestPage } from '../take.ts';
import { aboutSession } from './advice.ts';
import { describeRequest } from './approvals.ts';
import { fitting, toQuery } from './filters.ts';
import { sessionsNamed } from './named.ts';
import { readOpenRequests, requestIdOf } from './open-requests.ts';

/** Sessions whose logs are read at the same time. */
const atOnce = 4;

/** Lists what waits for an answer, in the sessions named or in all that run. */
export async function sessionRequests(
  context: Context,
  _options: object,
  ...given: string[]
): Promise<Output> {
  const connection = await connect(context);
  const isNamed = given.length > 0;
  const ids = isNamed
    ? await sessionsNamed(connection, given, context.interrupt.asked)
    : await running(context, connection);
  const open: SessionEvent[] = [];
  for (let at = 0; at < ids.length; at += atOnce) {
    const reading = ids
      .slice(at, at + atOnce)
      .map((id) => readOpenRequests(context, connection, id).catch(isNamed ? undefined : noneOfDeleted));
    open.push(...(await aboutSession(Promise.all(reading))).flatMap(({ requests }) => requests));
  }
  const now = context.clock.now();
  const rows = open.map((each) => [
    each.session_id,
    requestIdOf(each),
    ago(each.created_at, now),
    describeRequest(each.data),
  ]);
  if (rows.length === 0) return { json: [], human: 'No session waits for an answer.' };
  if (!context.terminal.json)
    context.terminal.note('Answer one: sallyport session approve SESSION --request REQUEST');
  return {
    json: open.map(toJson),
    human: table(['SESSION', 'REQUEST', 'ASKED', 'WANTS'], rows, context.terminal.widthOf('out')),
  };
}

async function running(context: Context, { clientOptions }: Connection): Promise<readonly string[]> {
  const filters = { statuses: ['running', 'disconnected'] } as const;
  const query = { limit: largestPage, ...toQuery(filters) };
  const listed = pages(clientOptions, contract.sessions.list, { query }, { signal: context.interrupt.asked });
  return (await gather(listed, (body) => fitting(body, filters))).map(({ id }) => id);
}

/** One that was deleted after the list was read asks for nothing. */
function noneOfDeleted(error: unknown): { readonly requests: readonly SessionEvent[] } {
  if (error instanceof ServiceError && error.status === 404) return { requests: [] };
  throw error;
}

function toJson({ session_id, id, seq, created_at, data }: SessionEvent): object {
  return { session_id, event_id: id, seq, created_at, ...data };
}
