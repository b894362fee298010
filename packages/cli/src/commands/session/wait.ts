import type { Session } from '@sallyport/core/contract';
import { connect, type Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { toFailure } from '../../io/failure.ts';
import { aboutSession } from './advice.ts';
import { endWatch, isFinal, whyEnded, type SessionEnd } from './end.ts';
import { sessionEvents } from './follow.ts';
import { sessionsNamed } from './named.ts';
import { readEnd } from './show.ts';
import { withinLimit } from './time-limit.ts';

export interface SessionWaitOptions {
  /** In milliseconds. */
  readonly timeout?: number;
  /** Waits for the first one only. */
  readonly any?: boolean;
}

type Ended = SessionEnd & { readonly id: string };

/** Waits until all of the sessions have ended, or the first one of them; exit 0 if each that ended is done, else 1. */
export async function sessionWait(
  context: Context,
  { timeout: limitMs, any = false }: SessionWaitOptions,
  ...given: string[]
): Promise<number> {
  const { interrupt, terminal } = context;
  const connection = await connect(context);
  const ids = await sessionsNamed(connection, given, interrupt.asked);
  const ended: Ended[] = [];
  const live = () => ids.filter((id) => !ended.some((each) => each.id === id));
  const limit = {
    limitMs,
    signal: interrupt.asked,
    message: (within: string) => `Not ended ${within}, and going on: ${live().join(', ')}.`,
    nextStep: () => `Wait again: sallyport session wait ${live().join(' ')}`,
  };
  const wait = (signal: AbortSignal) =>
    endsOf(context, connection, ids, {
      any,
      signal,
      onEnd(end) {
        ended.push(end);
        if (!terminal.json) terminal.result({ json: undefined, human: describe(end) });
      },
    });
  // Whoever reads no further (`| head -1`) has not seen all of them end.
  const release = terminal.onReaderGone(() => exitCodes.readerGone);
  await withinLimit(context, limit, wait).catch((error: unknown) => {
    const { code, message, exitCode, nextStep } = toFailure(error, context);
    // What is known by now is in the one document that there is.
    const details = { ended, live: live() };
    throw new CommandError(code, message, exitCode, nextStep, { cause: error, details });
  });
  release();
  ended.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
  if (terminal.json) terminal.result({ json: ended, human: '' });
  return ended.every(({ status }) => status === 'done') ? exitCodes.done : exitCodes.failed;
}

interface WaitOptions {
  readonly any: boolean;
  readonly signal: AbortSignal;
  readonly onEnd: (end: Ended) => void;
}

/** Waits for all at once; tells of each as it ends, and of those that have ended before in the order asked for. */
async function endsOf(
  context: Context,
  connection: Connection,
  ids: readonly string[],
  { any, signal, onEnd }: WaitOptions,
): Promise<void> {
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const get = (id: string) => aboutSession(connection.client.sessions.get({ params: { id }, signal: until }));
  // One that is not there ends the waiting before it begins.
  const sessions = await Promise.all(ids.map(get));
  const tell = (id: string, end: SessionEnd) => {
    if (over.signal.aborted) return;
    onEnd({ id, ...end });
    if (any) over.abort();
  };
  const before = async () => {
    for (const session of sessions.filter(({ status }) => isFinal(status)))
      if (!over.signal.aborted) tell(session.id, await endFromLog(context, connection, session));
  };
  const later = async (session: Session) => {
    const end = await aboutSession(awaitEnd(context, connection, session, until));
    tell(session.id, end ?? (await endFromLog(context, connection, await get(session.id))));
  };
  const waiting = [before(), ...sessions.filter(({ status }) => !isFinal(status)).map(later)];
  await Promise.all(waiting).catch((error: unknown) => {
    // What was left alone, because one was enough, has not failed.
    if (!over.signal.aborted) {
      over.abort();
      throw error;
    }
  });
}

/** The end of a session that is live; `undefined`: it had come before anybody looked. */
async function awaitEnd(
  context: Context,
  connection: Connection,
  { id: sessionId, last_seq: fromSeq = 0 }: Session,
  signal: AbortSignal,
): Promise<SessionEnd | undefined> {
  const endAt = endWatch();
  let end: SessionEnd | undefined;
  const following = { sessionId, fromSeq, until: 'ended', signal } as const;
  for await (const event of sessionEvents(context, connection, following)) end = endAt(event);
  return end;
}

async function endFromLog(context: Context, connection: Connection, session: Session): Promise<SessionEnd> {
  return (await readEnd(context, connection, session)) ?? { status: session.status };
}

function describe({ id, ...end }: Ended): string {
  const why = whyEnded(end);
  return `${id} ${end.status}${why === undefined ? '' : ` (${why})`}`;
}
