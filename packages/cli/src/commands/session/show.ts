import type { Session } from '@sallyport/core/contract';
import type { Context } from '../../context.ts';
import { connect, type Connection } from '../../connect.ts';
import { ago } from '../../io/ago.ts';
import { pairs } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { aboutSession } from './advice.ts';
import { endWatch, isFinal, whyEnded, type SessionEnd } from './end.ts';
import { sessionEvents } from './follow.ts';
import { sessionNamed } from './named.ts';
import { startedBy } from './started-by.ts';

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
    ['Started by:', startedBy(session)],
    ['Tags:', session.tags.join(', ')],
    ['Created:', `${session.created_at} (${ago(session.created_at, now)})`],
    ['Updated:', `${session.updated_at} (${ago(session.updated_at, now)})`],
  ]);
  return { json: end === undefined ? session : { ...session, end }, human };
}

/** The record does not say why a session ended; the end of its log does. `undefined`: it could not be read in time. */
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
    if (!deadline.signal.aborted || interrupt.asked.aborted) throw error;
    terminal.note(`Why it ended could not be read within ${patienceMs / 1000} s.`);
  } finally {
    timer.cancel();
  }
  return end;
}
