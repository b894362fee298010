import { ChangesReader, type PatchedChanges, type UnknownChanges } from '@sallyport/bridge';
import { ServiceError } from '@sallyport/core';
import type { Session } from '@sallyport/core/contract';
import type { Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { aboutSession } from './advice.ts';
import { sessionEvents } from './follow.ts';

/** What a bridge told of a session's changes. */
export interface ToldChanges {
  readonly sources: readonly (PatchedChanges | UnknownChanges)[];
  /** Since when the session may have changed more, which nobody told. */
  readonly as_of?: string;
}

/** So many events of a log's end are read: what changed is told just before it, in a few. */
const lastEvents = 200;

/** So long a bridge is given to answer; its git has 20 s. */
export const answerMs = 30_000;

/** What a session that ended told last; `undefined`: nothing. */
export async function changesInLog(
  context: Context,
  connection: Pick<Connection, 'clientOptions'>,
  { id: sessionId, last_seq: lastSeq = 0 }: Session,
): Promise<ToldChanges | undefined> {
  const fromSeq = Math.max(0, lastSeq - lastEvents);
  const { asked: signal } = context.interrupt;
  const reader = new ChangesReader();
  let found: ToldChanges | undefined;
  let isOfLastAttempt = false;
  for await (const event of sessionEvents(context, connection, {
    ...{ sessionId, fromSeq, until: 'now', signal },
  })) {
    const sources = reader.take(event);
    if (sources) found = { sources, as_of: event.created_at };
    if (sources || event.type === 'worker.ready') isOfLastAttempt = sources !== undefined;
    // What is told before the end of its process is the end of the matter.
    if (found && isOfLastAttempt && event.type === 'worker.exited') found = { sources: found.sources };
  }
  return found;
}

/** Asks the bridge of a session that has not ended; gives its answer. */
export async function askForChanges(
  context: Context,
  connection: Connection,
  session: Session,
): Promise<ToldChanges | undefined> {
  const { clock, ids, interrupt } = context;
  const { id, status } = session;
  if (status === 'queued')
    throw refusal(
      id,
      'has not begun: there is nothing to show',
      `Wait for it: sallyport session logs -f ${id}`,
    );
  if (status === 'disconnected')
    throw refusal(
      id,
      'has lost its bridge, which would know',
      `See the bridges: sallyport env list --online`,
    );
  const limit = new AbortController();
  const timer = clock.after(answerMs, () => limit.abort(), { keepAlive: true });
  const signal = AbortSignal.any([interrupt.asked, limit.signal]);
  let torn: ToldChanges | undefined;
  try {
    const events = [{ id: ids.next('evt'), type: 'control.changes', data: {} }];
    const sent = await aboutSession(
      connection.client.sessions.append({ params: { id }, body: { events }, signal }),
    );
    const fromSeq = sent.events[0]?.seq ?? 0;
    const reader = new ChangesReader();
    for await (const event of sessionEvents(context, connection, {
      ...{ sessionId: id, fromSeq, until: 'ended', signal },
    })) {
      const sources = reader.take(event);
      if (sources?.every(isWhole)) return { sources };
      // The rest of an answer to somebody who asked before: ours follows.
      if (sources) torn = { sources };
    }
    return torn;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'session_ended') {
      const { client } = connection;
      return await changesInLog(context, connection, await client.sessions.get({ params: { id }, signal }));
    }
    if (!limit.signal.aborted || interrupt.asked.aborted) throw error;
    if (torn) return torn;
    throw refusal(
      id,
      `runs, and its bridge did not tell within ${answerMs / 1000} s what it has changed: it is an older one, or runs with --changes none`,
      `Wait for its end: sallyport session wait ${id}`,
    );
  } finally {
    timer.cancel();
  }
}

function isWhole(source: ToldChanges['sources'][number]): boolean {
  return 'error' in source || source.patch.length >= source.patch_bytes;
}

function refusal(id: string, why: string, nextStep: string): CommandError {
  return new CommandError('no_answer', `Session ${id} ${why}.`, exitCodes.unreachable, nextStep);
}
