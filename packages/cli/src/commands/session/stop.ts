import type { Session } from '@sallyport/core/contract';
import { connect, type Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { advising } from '../../io/next-step.ts';
import type { Output } from '../../io/terminal.ts';
import { aboutSession } from './advice.ts';
import { isFinal } from './end.ts';
import { sessionEvents } from './follow.ts';
import { sessionNamed } from './named.ts';

export interface SessionStopOptions {
  readonly force?: boolean;
  readonly wait?: boolean;
}

/** Asks for the session's end; a session that has ended stays as it is. */
export async function sessionStop(
  context: Context,
  { force = false, wait = false }: SessionStopOptions,
  given: string,
): Promise<Output> {
  const connection = await connect(context);
  const { client } = connection;
  const signal = context.interrupt.asked;
  const id = await sessionNamed(connection, given, signal);
  const get = () => client.sessions.get({ params: { id }, signal });
  const before = await aboutSession(get());
  if (isFinal(before.status))
    return { json: before, human: `Session ${id} has ended already: ${before.status}.` };
  await stopSession(connection, before, { force, signal });
  if (wait) await awaitEnd(context, connection, id);
  const after = await get();
  const human = isFinal(after.status)
    ? `Session ${id} has ended: ${after.status}.`
    : `Session ${id} is asked to stop.`;
  return { json: after, human };
}

/** The environment's account and who created the session may stop it: whoever may not is told. */
export async function stopSession(
  { client }: Pick<Connection, 'client'>,
  { id, environment_id: environmentId, work_id: workId }: Session,
  options: { readonly force: boolean; readonly signal?: AbortSignal },
): Promise<void> {
  const { force, ...call } = options;
  const params = { env_id: environmentId, work_id: workId };
  await advising(client.bridge.stop({ params, body: { force }, ...call }), {
    forbidden: `Who started it may end it, and the owner of ${environmentId}. See who that is: sallyport session show ${id}`,
  });
}

async function awaitEnd(context: Context, connection: Connection, sessionId: string): Promise<void> {
  const options = { sessionId, until: 'ended', signal: context.interrupt.asked } as const;
  const events = sessionEvents(context, connection, options)[Symbol.asyncIterator]();
  while ((await events.next()).done !== true);
}
