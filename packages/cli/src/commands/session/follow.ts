import { fullJitter, sleep } from '@sallyport/core';
import { createClient, streamSession } from '@sallyport/core/client';
import type { SessionEvent } from '@sallyport/core/contract';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { isPassing } from '../../io/passing.ts';
import { printable } from '../../io/printable.ts';
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
  let attempt = 0;
  let isLost = false;
  for (;;) {
    try {
      for await (const frame of streamSession(clientOptions, sessionId, { fromSeq: lastSeq, signal })) {
        if (isLost) terminal.note('Connected again.');
        isLost = false;
        attempt = 0;
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
          // The event that ended it may be before the place asked for, and then nothing comes any more.
          if (
            fromSeq > 0 &&
            isFinal((await client.sessions.get({ params: { id: sessionId }, signal })).status)
          )
            return;
        }
      }
    } catch (error) {
      if (signal.aborted || !isPassing(error)) throw error;
      if (!isLost)
        terminal.note(`The connection is lost (${printable((error as Error).message)}); trying again.`);
      isLost = true;
    }
    await sleep(context.clock, fullJitter(context.random, attempt, { baseMs: 250, capMs: 10_000 }), signal);
    attempt += 1;
  }
}

function oldestSeq(data: unknown): number {
  const seq = (data as { oldest_seq?: unknown } | null)?.oldest_seq;
  return typeof seq === 'number' ? seq : 1;
}
