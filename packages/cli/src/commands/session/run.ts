import { reasonOf } from '@sallyport/core';
import type { Session } from '@sallyport/core/contract';
import { connect, type Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { tellFailure, toFailure } from '../../io/failure.ts';
import { advising } from '../../io/next-step.ts';
import { printable } from '../../io/printable.ts';
import type { Output } from '../../io/terminal.ts';
import { version } from '../../version.ts';
import { chooseEnvironment } from '../environment-named.ts';
import { listEnvironments } from '../environments.ts';
import { textArgument } from '../text-argument.ts';
import { orNearest } from '../unknown-environment.ts';
import { aboutSession } from './advice.ts';
import { createApprovals, refuseUnanswerable, type Approve } from './approvals.ts';
import { endWatch, isFinal, type SessionEnd } from './end.ts';
import { sessionEvents } from './follow.ts';
import { renderEvent } from './render.ts';
import { sourcesOf } from './source.ts';
import { stopSession } from './stop.ts';
import { withinLimit } from './time-limit.ts';
import { WaitingNotice } from './waiting.ts';

export interface SessionRunOptions {
  readonly env?: string;
  readonly title?: string;
  readonly tag: readonly string[];
  readonly source: readonly string[];
  /** In milliseconds. */
  readonly timeout?: number;
  readonly approve?: Approve;
  readonly detach?: boolean;
}

export async function sessionRun(
  context: Context,
  options: SessionRunOptions,
  ...words: string[]
): Promise<Output | number> {
  const nextStep = 'Say what to do: sallyport session run "..."';
  const prompt = await textArgument(context, words, { what: 'prompt', nextStep });
  refuseUnanswerable(context, options.approve);
  const sources = await sourcesOf(options.source);
  const connection = await connect(context);
  const session = await createSession(context, connection, { ...options, prompt, sources });
  connection.reporter.report({ name: 'session.created', attributes: { 'session.id': session.id } });
  if (options.detach === true)
    return {
      json: context.terminal.json ? await withAddress(context, connection, session) : session,
      human: session.id,
    };
  context.terminal.note(
    context.terminal.style('dim', `session ${session.id} on ${session.environment_id}`, 'err'),
  );
  return follow(context, connection, session, options);
}

async function createSession(
  context: Context,
  connection: Connection,
  {
    prompt,
    sources,
    ...options
  }: SessionRunOptions & { readonly prompt: string; readonly sources: Awaited<ReturnType<typeof sourcesOf>> },
): Promise<Session> {
  const signal = context.interrupt.asked;
  const looking = { now: context.clock.now(), signal };
  const environmentId = await chooseEnvironment(connection, options.env, looking);
  const created = connection.client.sessions.create({
    headers: {
      'vendor-client-feature': 'ccr',
      'x-organization-uuid': connection.organizationId,
      'x-environment-runner-version': version,
      'idempotency-key': context.ids.uuid(),
    },
    body: {
      environment_id: environmentId,
      title: options.title ?? firstLine(prompt),
      tags: [...options.tag],
      events: [{ type: 'session.message', data: { text: prompt } }],
      ...(sources.length > 0 && { session_context: { sources } }),
    },
    signal,
    onRetry: ({ attempt, cause }) => {
      if (attempt > 1) return;
      const why = typeof cause === 'number' ? `it answered ${cause}` : cause.message;
      context.terminal.note(`The session could not be created yet (${why}); trying again.`);
    },
  });
  const advised = advising(created, {
    unreachable: perhapsCreated,
    timeout: perhapsCreated,
    not_found: otherEnvironments,
    environment_deleted: otherEnvironments,
  });
  return orNearest(connection, environmentId, signal, advised);
}

/**
 * The record as it is read: the answer that creates one tells no address. Where it cannot be read it is what was answered,
 * for the session is there.
 */
async function withAddress(
  { interrupt }: Context,
  { client }: Connection,
  created: Session,
): Promise<Session> {
  const { account } = created;
  if (account === undefined || account.email !== undefined) return created;
  const read = client.sessions.get({ params: { id: created.id }, signal: interrupt.asked });
  const { account: shown = account } = await read.catch(() => created);
  return { ...created, account: shown };
}

const perhapsCreated =
  'Once the gateway is back, see whether the session was created all the same: sallyport session list';

const otherEnvironments =
  'See which are online: sallyport env list --online\nWithout --env the session goes to the only one of them.';

/** The first signal stops the session gracefully and goes on watching; the second one leaves. */
async function follow(
  context: Context,
  connection: Connection,
  session: Session,
  { timeout: limitMs, approve }: Pick<SessionRunOptions, 'timeout' | 'approve'>,
): Promise<number> {
  const { interrupt, terminal } = context;
  const onInterrupt = () => {
    terminal.note('Stopping the session; press Ctrl-C again to leave it to itself.');
    stopSession(connection, session, { force: false }).catch((error: unknown) => {
      const failure = toFailure(error, context);
      tellFailure({ ...failure, message: `The session could not be stopped. ${failure.message}` }, terminal);
    });
  };
  if (interrupt.asked.aborted) onInterrupt();
  else interrupt.asked.addEventListener('abort', onInterrupt, { once: true });
  const release = terminal.onReaderGone(() => {
    tellFailure(toFailure(unread(session.id)), terminal);
    return exitCodes.readerGone;
  });
  const limit = { limitMs, signal: interrupt.insisted, nextStep: () => howToGoOn(session.id) };
  const watching = withinLimit(context, limit, (signal) =>
    watch(context, connection, session, { approve, signal }),
  );
  const end = await aboutSession(watching).catch((error: unknown) => {
    throw interrupt.insisted.aborted ? leftAlone(session.id) : error;
  });
  release();
  interrupt.asked.removeEventListener('abort', onInterrupt);
  connection.reporter.report({
    name: 'session.followed',
    attributes: { 'session.id': session.id, 'session.status': end?.status ?? 'unknown' },
  });
  if (interrupt.asked.aborted) return exitCodes.interrupted;
  return end?.status === 'done' ? exitCodes.done : exitCodes.failed;
}

async function watch(
  context: Context,
  connection: Connection,
  { id: sessionId, environment_id: environmentId }: Session,
  { approve, signal }: { readonly approve: Approve | undefined; readonly signal: AbortSignal },
): Promise<SessionEnd | undefined> {
  const { terminal } = context;
  const approvals = createApprovals(context, connection, { approve, signal });
  const waiting = new WaitingNotice(context, environmentId, async () =>
    (await listEnvironments(connection, signal)).find((each) => each.environment_id === environmentId),
  );
  const endOf = endWatch();
  let end: SessionEnd | undefined;
  try {
    const onCaughtUp = () => approvals.begin();
    const following = { sessionId, until: 'ended', signal, onCaughtUp } as const;
    for await (const event of sessionEvents(context, connection, following)) {
      waiting.observe(event);
      if (!approvals.observe(event)) renderEvent(event, terminal);
      end = endOf(event);
    }
  } catch (error) {
    if (signal.aborted) throw error;
    end = await endInRecord(context, connection, { sessionId, signal }, error);
  } finally {
    waiting.cancel();
    await approvals.end();
  }
  return end;
}

/** What can be followed no more may have ended: its record says how. Throws `cause` where it does not. */
async function endInRecord(
  { terminal }: Context,
  { client }: Connection,
  { sessionId, signal }: { readonly sessionId: string; readonly signal: AbortSignal },
  cause: unknown,
): Promise<SessionEnd> {
  const record = await client.sessions.get({ params: { id: sessionId }, signal }).catch(() => undefined);
  if (record === undefined || !isFinal(record.status)) throw cause;
  const { status } = record;
  terminal.note(`session ${status}; its events can be followed no more (${printable(reasonOf(cause))}).`);
  return { status };
}

function leftAlone(id: string): CommandError {
  return new CommandError(
    'interrupted',
    `Session ${id} is left to itself.`,
    exitCodes.interrupted,
    `${watchIt(id)}\n${endAtOnce(id)}`, // it has been asked to stop
  );
}

/** Who has seen enough of the output (`| head`) has not stopped the session. */
function unread(id: string): CommandError {
  return new CommandError(
    'reader_gone',
    `Nobody reads the output any more; session ${id} goes on.`,
    exitCodes.readerGone,
    howToGoOn(id),
  );
}

function howToGoOn(id: string): string {
  return `${watchIt(id)}\nStop it: sallyport session stop ${id}\n${endAtOnce(id)}`;
}

function watchIt(id: string): string {
  return `Watch it: sallyport session logs -f ${id}`;
}

function endAtOnce(id: string): string {
  return `End it at once: sallyport session stop --force ${id}`;
}

/** The start of the prompt's first line, for lists. */
function firstLine(prompt: string): string {
  const line = prompt.trim().split('\n', 1)[0] ?? '';
  const characters = Array.from(new Intl.Segmenter().segment(line), ({ segment }) => segment);
  return characters.length > 80 ? `${characters.slice(0, 79).join('')}…` : line;
}
