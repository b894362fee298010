import type { SessionEvent } from '@sallyport/core/contract';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { endWatch } from './end.ts';
import { sessionEvents } from './follow.ts';

/** A request that waits no more, and the answer that counts. */
export interface AnsweredRequest {
  readonly request: SessionEvent;
  readonly answer: SessionEvent;
}

export interface OpenRequests {
  readonly requests: readonly SessionEvent[];
  /** Of those that were answered the one that was looked for, else the last: a log may have very many. */
  readonly answered: AnsweredRequest | undefined;
  /** The last event that was read for them. */
  readonly lastSeq: number;
}

/** Looks at a session's events in order; knows which requests for permission wait for an answer. */
function openRequests(lookedFor: string | undefined) {
  const open = new Map<string, SessionEvent>();
  let answered: AnsweredRequest | undefined;
  const endOf = endWatch();
  return {
    observe(event: SessionEvent): void {
      const { type, data } = event;
      const requestId = data['request_id'];
      // Who asked is gone: the process, or with the next attempt the one of the last.
      if (type === 'worker.exited' || endOf(event) !== undefined || isQueuedAgain(event)) open.clear();
      if (typeof requestId !== 'string') return;
      if (type === 'control.permission_response') {
        const request = open.get(requestId);
        if (request && (lookedFor ?? requestId) === requestId) answered = { request, answer: event };
        open.delete(requestId);
      }
      if (type === 'tool.permission_request') open.set(requestId, event);
    },
    all: () => ({ requests: [...open.values()], answered }),
  };
}

/** Those of a session by now: its log is read through. */
export async function readOpenRequests(
  context: Context,
  connection: Pick<Connection, 'clientOptions'>,
  sessionId: string,
  lookedFor?: string,
): Promise<OpenRequests> {
  const open = openRequests(lookedFor);
  let lastSeq = 0;
  const options = { sessionId, until: 'now', signal: context.interrupt.asked } as const;
  for await (const event of sessionEvents(context, connection, options)) {
    open.observe(event);
    lastSeq = event.seq;
  }
  return { ...open.all(), lastSeq };
}

/** The process's own id of what it asks for. */
export function requestIdOf({ data }: SessionEvent): string {
  return String(data['request_id']);
}

function isQueuedAgain({ type, data }: SessionEvent): boolean {
  return type === 'session.updated' && data['status'] === 'queued';
}
