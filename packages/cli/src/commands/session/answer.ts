import type { SessionEvent } from '@sallyport/core/contract';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { aboutSession } from './advice.ts';
import { sessionEvents } from './follow.ts';

export type Behavior = 'allow' | 'deny';

/** The answer to a request for permission that counts: of several that are given, the first. */
export interface Answer {
  readonly session_id: string;
  readonly request_id: unknown;
  readonly behavior: Behavior;
  readonly seq: number;
}

/** Answers a request for permission; gives the answer that counts, which may be what somebody else said before. */
export async function answer(
  context: Context,
  { client, clientOptions }: Pick<Connection, 'client' | 'clientOptions'>,
  request: SessionEvent,
  behavior: Behavior,
): Promise<Answer> {
  const signal = context.interrupt.asked;
  const { session_id: sessionId, data } = request;
  const stored = await aboutSession(sendAnswer({ client }, request, behavior, signal));
  const [{ seq } = { seq: 0 }] = stored.events;
  const given = { session_id: sessionId, request_id: data['request_id'], seq };
  const following = { sessionId, fromSeq: seq - 1, until: 'now', signal } as const;
  for await (const event of sessionEvents(context, { clientOptions }, following)) {
    const said = event.data['behavior'];
    return { ...given, behavior: said === 'allow' || said === 'deny' ? said : behavior };
  }
  return { ...given, behavior };
}

export function sendAnswer(
  { client }: Pick<Connection, 'client'>,
  { id, session_id: sessionId, data }: SessionEvent,
  behavior: Behavior,
  signal: AbortSignal,
): ReturnType<typeof client.sessions.append> {
  const response = {
    // The service takes one event of an id (docs/events.md): the first answer counts, whoever gives it.
    id: `answer_${id}`,
    type: 'control.permission_response',
    data: { request_id: data['request_id'], behavior },
  };
  return client.sessions.append({ params: { id: sessionId }, body: { events: [response] }, signal });
}
