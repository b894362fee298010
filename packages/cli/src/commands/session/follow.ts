import { createClient, streamSession } from '@sallyport/core/client';
import type { SessionEvent } from '@sallyport/core/contract';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { reconnecting } from '../../io/reconnecting.ts';
import { endWatch, isFinal } from './end.ts';

export interface FollowOptions {
  readonly sessionId: string;
  /** Events after this one; default 0, from the beginning. */
  readonly fromSeq?: number;
  /** `ended`: goes on until the session has ended; `now`: what the log has by now. */
  readonly until: 'ended' | 'now';
  readonly signal: AbortSignal;
  /** Told when what the log had at the beginning is through. */
  readonly onCaughtUp?: () => void;
}

/**
 * A session's events, each once and in order; a lost connection is taken up again after the last `seq`, for as long as it
 * takes. The last one of a session that ended is the `session.updated` that says so.
 */
export async function* sessionEvents(
  context: Context,
  { clientOptions }: Pick<Connection, 'clientOptions'>,
  { sessionId, fromSeq = 0, until, signal, onCaughtUp }: FollowOptions,
): AsyncIterable<SessionEvent> {
  const { terminal } = context;
  const client = createClient(clientOptions);
  const endOf = endWatch();
  let lastSeq = fromSeq;
  async function* open() {
    for await (const frame of streamSession(clientOptions, sessionId, { fromSeq: lastSeq, signal })) {
      yield frame;
      // The event that ended it may be before the place asked for, and then nothing comes any more.
      if (frame.kind === 'event' || frame.type !== 'caught_up' || fromSeq === 0) continue;
      const { status } = await client.sessions.get({ params: { id: sessionId }, signal });
      if (isFinal(status)) yield 'over' as const;
    }
  }
  for await (const frame of reconnecting(context, signal, open)) {
    if (frame === 'over') return;
    if (frame.kind === 'event') {
      if (frame.event.seq <= lastSeq) continue;
      lastSeq = frame.event.seq;
      yield frame.event;
      if (endOf(frame.event)) return;
    } else if (frame.type === 'resync_required') {
      // The log does not have the place asked for: go on from what there is.
      const oldest = oldestSeq(frame.data);
      if (lastSeq > 0) terminal.note(`There is no event ${lastSeq}; showing all from ${oldest}.`);
      lastSeq = oldest - 1;
    } else if (frame.type === 'caught_up') {
      if (until === 'now') return;
      onCaughtUp?.();
    }
  }
}

function oldestSeq(data: unknown): number {
  const seq = (data as { oldest_seq?: unknown } | null)?.oldest_seq;
  return typeof seq === 'number' ? seq : 1;
}
