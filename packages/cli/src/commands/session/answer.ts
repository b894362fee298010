import type { SessionEvent } from '@sallyport/core/contract';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { accountName } from '../account-name.ts';
import { sessionEvents } from './follow.ts';
import { ownAccount } from './started-by.ts';

export type Behavior = 'allow' | 'deny';

/** The answer to a request for permission that counts: of several that are given, the first. */
export interface Answer {
  readonly session_id: string;
  readonly request_id: unknown;
  readonly behavior: Behavior;
  readonly seq: number;
  /** Who gave it, where the service tells. */
  readonly account?: SessionEvent['account'];
}

export interface Answered {
  readonly answer: Answer;
  /** Who was faster than the caller, `''` where the service does not tell; `undefined`: the caller's answer counts. */
  readonly faster: string | undefined;
}

type Answering = Pick<Connection, 'client' | 'clientOptions' | 'store' | 'loginKey'>;

/** Answers a request for permission; gives the answer that counts, which may be what somebody else said before. */
export async function answer(
  context: Context,
  connection: Answering,
  request: SessionEvent,
  { behavior, signal }: { readonly behavior: Behavior; readonly signal: AbortSignal },
): Promise<Answered> {
  const { id, session_id, data } = request;
  // The service takes one event of an id (docs/events.md): of two answers under the shared one the first is kept.
  const shared = `answer_${id}`;
  const own = context.ids.next('evt');
  let seq = 0;
  // Where that id belongs to an event that is no answer, the answer goes under one of its own.
  for (const eventId of [shared, own]) {
    const event = {
      id: eventId,
      type: 'control.permission_response',
      data: { request_id: data['request_id'], behavior },
    };
    const body = { events: [event] };
    const stored = await connection.client.sessions.append({ params: { id: session_id }, body, signal });
    seq = stored.events[0]?.seq ?? seq;
    const first = await firstAnswer(context, connection, request, signal);
    if (first === undefined) continue;
    const given = toAnswer(request, first);
    const isOwn =
      first.id === own ||
      (first.id === shared && given.behavior === behavior && (await isOfCaller(context, connection, first)));
    return { answer: given, faster: isOwn ? undefined : accountName(first) };
  }
  return {
    answer: { session_id, request_id: data['request_id'], behavior, seq },
    faster: undefined,
  };
}

/** By now, in the log; `undefined`: there is none. */
async function firstAnswer(
  context: Context,
  connection: Pick<Connection, 'clientOptions'>,
  { session_id: sessionId, seq, data }: SessionEvent,
  signal: AbortSignal,
): Promise<SessionEvent | undefined> {
  const following = { sessionId, fromSeq: seq, until: 'now', signal } as const;
  for await (const event of sessionEvents(context, connection, following))
    if (event.type === 'control.permission_response' && event.data['request_id'] === data['request_id'])
      return event;
  return undefined;
}

/** An answer as the log has it. */
export function toAnswer(
  { session_id, data }: SessionEvent,
  { seq, account, data: said }: SessionEvent,
): Answer {
  return {
    session_id,
    request_id: data['request_id'],
    behavior: said['behavior'] === 'allow' ? 'allow' : 'deny',
    seq,
    ...(account && { account }),
  };
}

/** Whether the caller sent it, as far as can be told: a service that names nobody is believed. */
async function isOfCaller(
  context: Context,
  connection: Pick<Connection, 'client' | 'store' | 'loginKey'>,
  { account }: SessionEvent,
): Promise<boolean> {
  if (account === undefined) return true;
  const own = await ownAccount(context, connection).catch(() => undefined);
  return own === undefined || own === account.id;
}
