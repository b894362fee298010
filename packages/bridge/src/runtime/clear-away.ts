import type { Context } from './context.ts';
import type { EndReason } from './events.ts';
import type { Exit } from './executor.ts';
import { toError } from './failure.ts';
import type { EndHook } from './on-end.ts';
import type { Places } from './places.ts';

export interface ClearAwayOptions {
  readonly context: Context;
  readonly places: Places;
  readonly onEnd?: EndHook | undefined;
  readonly environmentId: string;
  readonly sessionId: string;
  readonly workId: string;
}

/**
 * Runs the person's command for the end of a session, in the directory where it ran if it did, and settles its place. Gives the
 * folder of what stays. What fails is the log's: the session is over.
 */
export async function clearAway(
  { context, places, onEnd, environmentId, sessionId, workId }: ClearAwayOptions,
  directory: string | undefined,
  end: Exit & { readonly reason: EndReason },
): Promise<string | undefined> {
  // Who is to end at once leaves that to the next start.
  if (context.killed.aborted) return undefined;
  try {
    if (onEnd && directory !== undefined) {
      const ran = await onEnd({ environmentId, sessionId, workId, directory, ...end });
      context.emit({ type: 'session.hook_ended', sessionId, ...ran });
    }
    return await places.leave(sessionId);
  } catch (error) {
    context.log.warn({ err: toError(error), sessionId }, 'the session was not cleared away');
    return undefined;
  }
}
