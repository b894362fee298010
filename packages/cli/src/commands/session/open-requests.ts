import type { SessionEvent } from '@sallyport/core/contract';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { endWatch } from './end.ts';
import { sessionEvents } from './follow.ts';

/** Looks at a session's events in order; knows which requests for permission wait for an answer. */
function openRequests() {
  const open = new Map<string, SessionEvent>();
  const endOf = endWatch();
  return {
    observe(event: SessionEvent): void {
      const { type, data } = event;
      const requestId = data['request_id'];
      // Who asked is gone: the process, or with the next attempt the one of the last.
      if (type === 'worker.exited' || endOf(event) !== undefined || isQueuedAgain(event)) open.clear();
      if (typeof requestId !== 'string') return;
      if (type === 'control.permission_response') open.delete(requestId);
      if (type === 'tool.permission_request') open.set(requestId, event);
    },
    all: (): readonly SessionEvent[] => [...open.values()],
  };
}

/** Those of a session by now, and the last event that was read for them: its log is read through. */
export async function readOpenRequests(
  context: Context,
  connection: Pick<Connection, 'clientOptions'>,
  sessionId: string,
): Promise<{ readonly requests: readonly SessionEvent[]; readonly lastSeq: number }> {
  const open = openRequests();
  let lastSeq = 0;
  const options = { sessionId, until: 'now', signal: context.interrupt.asked } as const;
  for await (const event of sessionEvents(context, connection, options)) {
    open.observe(event);
    lastSeq = event.seq;
  }
  return { requests: open.all(), lastSeq };
}

/** The process's own id of what it asks for. */
export function requestIdOf({ data }: SessionEvent): string {
  return String(data['request_id']);
}

function isQueuedAgain({ type, data }: SessionEvent): boolean {
  return type === 'session.updated' && data['status'] === 'queued';
}
