import { fullJitter, ServiceError, sleep, TransportError } from '@sallyport/core';
import { streamSession } from '@sallyport/core/client';
import { finalStatuses, SessionStatus, type SessionEvent } from '@sallyport/core/contract';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';

/** How a followed session ended. */
export interface SessionEnd {
  readonly status: SessionStatus;
  readonly reason?: string;
}

/**
 * Gives a session's events to `show`, each once and in order, until the session has ended; a lost connection is taken up
 * again after the last `seq`, for as long as it takes.
 */
export async function followSession(
  context: Context,
  { clientOptions }: Connection,
  sessionId: string,
  show: (event: SessionEvent) => void,
  signal: AbortSignal,
): Promise<SessionEnd> {
  let fromSeq = 0;
  let attempt = 0;
  for (;;) {
    try {
      for await (const frame of streamSession(clientOptions, sessionId, { fromSeq, signal })) {
        if (attempt > 0) context.terminal.note('Connected again.');
        attempt = 0;
        if (frame.kind === 'notice') {
          // The log starts later than asked for: go on from what there is.
          if (frame.type === 'resync_required') fromSeq = oldestSeq(frame.data) - 1;
          continue;
        }
        if (frame.event.seq <= fromSeq) continue;
        fromSeq = frame.event.seq;
        show(frame.event);
        const end = endOf(frame.event);
        if (end) return end;
      }
    } catch (error) {
      if (signal.aborted || !mayPass(error)) throw error;
      if (attempt === 0)
        context.terminal.note(`The connection is lost (${(error as Error).message}); trying again.`);
    }
    await sleep(context.clock, fullJitter(context.random, attempt, { baseMs: 250, capMs: 10_000 }), signal);
    attempt += 1;
  }
}

function mayPass(error: unknown): boolean {
  if (error instanceof ServiceError) return error.status === 429 || error.status >= 500;
  return error instanceof TransportError && error.code !== 'aborted';
}

function oldestSeq(data: unknown): number {
  const seq = (data as { oldest_seq?: unknown } | null)?.oldest_seq;
  return typeof seq === 'number' ? seq : 1;
}

function endOf(event: SessionEvent): SessionEnd | undefined {
  if (event.type !== 'session.updated') return undefined;
  const status = SessionStatus.safeParse(event.data['status']);
  if (!status.success || !finalStatuses.includes(status.data)) return undefined;
  const reason = event.data['reason'];
  return { status: status.data, ...(typeof reason === 'string' && { reason }) };
}
