import { reasonOf } from '@sallyport/core';
import type { Session } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { connect, type Connection } from '../../connect.ts';
import { ago } from '../../io/ago.ts';
import { printable } from '../../io/printable.ts';
import { pairs } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { accountName } from '../account-name.ts';
import { aboutSession } from './advice.ts';
import { endWatch, isFinal, whyEnded, type SessionEnd } from './end.ts';
import { sessionEvents } from './follow.ts';
import { sessionNamed } from './named.ts';

/** How many events of a log's end are read for the reason: the worker's last words and the service's follow each other. */
const lastEvents = 20;

/** How long the reason is waited for, in milliseconds: the record is what was asked for. */
export const patienceMs = 10_000;

export async function sessionShow(context: Context, _options: object, given: string): Promise<Output> {
  const connection = await connect(context);
  const { signal, now } = { signal: context.interrupt.asked, now: context.clock.now() };
  const id = await sessionNamed(connection, given, signal);
  const session = await aboutSession(connection.client.sessions.get({ params: { id }, signal }));
  const end = isFinal(session.status) ? await readEnd(context, connection, session) : undefined;
  const why = end && whyEnded(end);
  const human = pairs([
    ['Session:', session.id],
    ['Title:', session.title],
    ['Status:', why === undefined ? session.status : `${session.status} (${why})`],
    ['Environment:', session.environment_id],
    ['Started by:', accountName(session)],
    ['Tags:', session.tags.join(', ')],
    ['Created:', `${session.created_at} (${ago(session.created_at, now)})`],
    ['Updated:', `${session.updated_at} (${ago(session.updated_at, now)})`],
  ]);
  return { json: end === undefined ? session : { ...session, end }, human };
}

/** The record does not say why a session ended; the end of its log does. `undefined`: it could not be read, which is said. */
export async function readEnd(
  context: Context,
  connection: Pick<Connection, 'clientOptions'>,
  { id: sessionId, last_seq: lastSeq = 0 }: Session,
): Promise<SessionEnd | undefined> {
  const { clock, interrupt, terminal } = context;
  const deadline = new AbortController();
  const timer = clock.after(patienceMs, () => deadline.abort());
  const signal = AbortSignal.any([interrupt.asked, deadline.signal]);
  const fromSeq = Math.max(0, lastSeq - lastEvents);
  const endOf = endWatch();
  let end: SessionEnd | undefined;
  try {
    const events = sessionEvents(context, connection, { sessionId, fromSeq, until: 'now', signal });
    for await (const event of events) end = endOf(event) ?? end;
  } catch (error) {
    if (interrupt.asked.aborted) throw error;
    const why = deadline.signal.aborted ? `within ${patienceMs / 1000} s` : `(${printable(reasonOf(error))})`;
    terminal.note(`Why it ended could not be read ${why}.`);
  } finally {
    timer.cancel();
  }
  return end;
}
