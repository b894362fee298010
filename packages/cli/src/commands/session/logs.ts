import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { exitCodes } from '../../io/exit.ts';
import { aboutSession } from './advice.ts';
import { createApprovals, refuseUnanswerable, type Approve } from './approvals.ts';
import { sessionEvents } from './follow.ts';
import { sessionNamed } from './named.ts';
import { renderEvent } from './render.ts';
import { withinLimit } from './time-limit.ts';

export interface SessionLogsOptions {
  readonly follow?: boolean;
  readonly fromSeq: number;
  /** In milliseconds. */
  readonly timeout?: number;
  readonly approve?: Approve;
}

/** Shows what happened in a session; exit 0 however it ended: the logs were shown. */
export async function sessionLogs(
  context: Context,
  { follow = false, fromSeq, timeout: limitMs, approve }: SessionLogsOptions,
  given: string,
): Promise<number> {
  refuseUnanswerable(context, approve);
  const connection = await connect(context);
  const { asked } = context.interrupt;
  const sessionId = await sessionNamed(connection, given, asked);
  const until = follow ? 'ended' : 'now';
  const show = async (signal: AbortSignal) => {
    const approvals = createApprovals(context, connection, { approve, signal });
    const onCaughtUp = () => approvals.begin();
    try {
      const options = { sessionId, fromSeq, until, signal, onCaughtUp } as const;
      for await (const event of sessionEvents(context, connection, options)) {
        if (!approvals.observe(event)) renderEvent(event, context.terminal, { messages: true });
      }
    } finally {
      await approvals.end();
    }
  };
  const nextStep = () => `Go on: sallyport session logs -f ${sessionId}`;
  try {
    await aboutSession(withinLimit(context, { limitMs, signal: asked, nextStep }, show));
  } catch (error) {
    // Whoever leaves a follow has seen what there was to see.
    if (follow && asked.aborted) return exitCodes.interrupted;
    throw error;
  }
  return exitCodes.done;
}
