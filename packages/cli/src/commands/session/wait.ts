import { connect, type Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { exitCodes } from '../../io/exit.ts';
import { aboutSession } from './advice.ts';
import { endWatch, isFinal, whyEnded, type SessionEnd } from './end.ts';
import { sessionEvents } from './follow.ts';
import { readEnd } from './show.ts';
import { withinLimit } from './time-limit.ts';

export interface SessionWaitOptions {
  readonly timeout?: number;
}

/** Waits until all of the sessions have ended; exit 0 if each is done, else 1. */
export async function sessionWait(
  context: Context,
  { timeout: limitMs }: SessionWaitOptions,
  ...given: string[]
): Promise<number> {
  const connection = await connect(context);
  const ids = [...new Set(given)];
  const limit = {
    limitMs,
    signal: context.interrupt.asked,
    nextStep: `Wait again: sallyport session wait ${ids.join(' ')}`,
  };
  const ends = await withinLimit(context, limit, async (signal) => {
    const seen: (SessionEnd & { readonly id: string })[] = [];
    // One after the other: who comes late has ended meanwhile.
    for (const id of ids) {
      const end = await aboutSession(endOf(context, connection, id, signal));
      seen.push({ id, ...end });
      if (!context.terminal.json) context.terminal.result({ json: undefined, human: describe(id, end) });
    }
    return seen;
  });
  if (context.terminal.json) context.terminal.result({ json: ends, human: '' });
  return ends.every(({ status }) => status === 'done') ? exitCodes.done : exitCodes.failed;
}

async function endOf(
  context: Context,
  connection: Connection,
  sessionId: string,
  signal: AbortSignal,
): Promise<SessionEnd> {
  const get = () => connection.client.sessions.get({ params: { id: sessionId }, signal });
  const session = await get();
  if (!isFinal(session.status)) {
    const endAt = endWatch();
    const fromSeq = session.last_seq ?? 0;
    let end: SessionEnd | undefined;
    for await (const event of sessionEvents(context, connection, {
      sessionId,
      fromSeq,
      until: 'ended',
      signal,
    }))
      end = endAt(event);
    if (end) return end;
  }
  const ended = await get();
  return (await readEnd(context, connection, ended)) ?? { status: ended.status };
}

function describe(id: string, end: SessionEnd): string {
  const why = whyEnded(end);
  return `${id} ${end.status}${why === undefined ? '' : ` (${why})`}`;
}
