import { streamSession } from '@sallyport/core/client';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';

/** So much of a log is looked at, and for so long: a hint is not worth the whole of it. */
const lastEvents = 100;
const limitMs = 2000;

/** Whether the last events say that the process hears nothing that is sent; where nothing cheap tells, it is not said. */
export async function hasClosedInput(
  { clock, interrupt }: Pick<Context, 'clock' | 'interrupt'>,
  { clientOptions }: Pick<Connection, 'clientOptions'>,
  { sessionId, before }: { readonly sessionId: string; readonly before: number },
): Promise<boolean> {
  const limit = new AbortController();
  const timer = clock.after(limitMs, () => limit.abort());
  const signal = AbortSignal.any([interrupt.asked, limit.signal]);
  const fromSeq = Math.max(0, before - 1 - lastEvents);
  let isClosed = false;
  try {
    for await (const frame of streamSession(clientOptions, sessionId, { fromSeq, signal })) {
      // `resync_required`, say: what follows may be a long log.
      if (frame.kind === 'notice') return false;
      const { seq, type, data } = frame.event;
      if (seq >= before) return isClosed;
      if (type === 'worker.ready') isClosed = data['interactive'] === false;
      // A later process gets what was sent before it began.
      const isGone = type === 'worker.exited' || (type === 'session.updated' && data['status'] === 'queued');
      if (isGone) isClosed = false;
    }
  } catch {
    // The message is in the log all the same.
  } finally {
    timer.cancel();
  }
  return false;
}
