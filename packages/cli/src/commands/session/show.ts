import type { Context } from '../../context.ts';
import { connect, type Connection } from '../../connect.ts';
import { ago } from '../../io/ago.ts';
import { printable } from '../../io/printable.ts';
import type { Output } from '../../io/terminal.ts';
import { aboutSession } from './advice.ts';
import { endWatch, isFinal, whyEnded, type SessionEnd } from './end.ts';
import { sessionEvents } from './follow.ts';

export async function sessionShow(context: Context, _options: object, id: string): Promise<Output> {
  const connection = await connect(context);
  const { signal, now } = { signal: context.interrupt.asked, now: context.clock.now() };
  const session = await aboutSession(connection.client.sessions.get({ params: { id }, signal }));
  const end = isFinal(session.status) ? await readEnd(context, connection, id) : undefined;
  const why = end && whyEnded(end);
  const lines = [
    ['Session', session.id],
    ['Title', printable(session.title)],
    ['Status', why === undefined ? session.status : `${session.status} (${why})`],
    ['Environment', session.environment_id],
    ['Tags', printable(session.tags.join(', '))],
    ['Created', `${session.created_at} (${ago(session.created_at, now)})`],
    ['Updated', `${session.updated_at} (${ago(session.updated_at, now)})`],
  ] as const;
  return {
    json: end === undefined ? session : { ...session, end },
    human: lines
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${`${name}:`.padEnd(13)}${value}`)
      .join('\n'),
  };
}

/** The record does not say why a session ended; its log does. */
async function readEnd(
  context: Context,
  connection: Connection,
  sessionId: string,
): Promise<SessionEnd | undefined> {
  const endOf = endWatch();
  let end: SessionEnd | undefined;
  const options = { sessionId, until: 'now', signal: context.interrupt.asked } as const;
  for await (const event of sessionEvents(context, connection, options)) end = endOf(event) ?? end;
  return end;
}
