import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { exitCodes } from '../../io/exit.ts';
import { aboutSession } from './advice.ts';
import { sessionEvents } from './follow.ts';
import { renderEvent } from './render.ts';

export interface SessionLogsOptions {
  readonly follow?: boolean;
  readonly fromSeq: number;
}

/** Shows what happened in a session; exit 0 however it ended: the logs were shown. */
export async function sessionLogs(
  context: Context,
  { follow = false, fromSeq }: SessionLogsOptions,
  sessionId: string,
): Promise<number> {
  const connection = await connect(context);
  const signal = context.interrupt.asked;
  const events = sessionEvents(context, connection, {
    sessionId,
    fromSeq,
    until: follow ? 'ended' : 'now',
    signal,
  });
  const show = async () => {
    for await (const event of events) renderEvent(event, context.terminal, { messages: true });
  };
  try {
    await aboutSession(show());
  } catch (error) {
    // Whoever leaves a follow has seen what there was to see.
    if (follow && signal.aborted) return exitCodes.interrupted;
    throw error;
  }
  return exitCodes.done;
}
