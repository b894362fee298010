import type { SessionEvent } from '@sallyport/core/contract';
import { connect, type Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { printable } from '../../io/printable.ts';
import { hasTerminal, question } from '../../io/question.ts';
import { table } from '../../io/table.ts';
import { accountName } from '../account-name.ts';
import { aboutSession } from './advice.ts';
import { answer, toAnswer, type Answer, type Answered, type Behavior } from './answer.ts';
import { describeRequest } from './approvals.ts';
import { isFinal } from './end.ts';
import { sessionEvents } from './follow.ts';
import { sessionNamed } from './named.ts';
import { readOpenRequests, requestIdOf, type AnsweredRequest, type OpenRequests } from './open-requests.ts';

export interface SessionApproveOptions {
  readonly allow?: boolean;
  readonly deny?: boolean;
  /** Allows what is asked for until the session ends. */
  readonly always?: boolean;
  /** The one to answer, by the process's own id of it. */
  readonly request?: string;
}

/** Answers what a session's process asks permission for, from any shell. */
export async function sessionApprove(
  context: Context,
  options: SessionApproveOptions,
  given: string,
): Promise<number> {
  const { terminal } = context;
  const { allow = false, deny = false, always = false } = options;
  const behavior = allow ? 'allow' : deny ? 'deny' : undefined;
  if (behavior === undefined && !always) refuseUnasked(context);
  const connection = await connect(context);
  const signal = context.interrupt.asked;
  const id = await sessionNamed(connection, given, signal);
  const session = await aboutSession(connection.client.sessions.get({ params: { id }, signal }));
  if (isFinal(session.status))
    throw new CommandError(
      'session_ended',
      `Session ${id} has ended: ${session.status}.`,
      exitCodes.conflict,
      `See what happened: sallyport session logs ${id}`,
    );
  const open = await readOpenRequests(context, connection, id, options.request);
  const answers: Answer[] = [];
  const say = async (request: SessionEvent, wanted: Behavior) => {
    const given = await aboutSession(answer(context, connection, request, { behavior: wanted, signal }));
    answers.push(given.answer);
    if (always || !terminal.json) terminal.result({ json: given.answer, human: told(request, given) });
  };
  for (const request of always ? open.requests : chosen(id, open, options))
    await say(request, behavior ?? (always ? 'allow' : await ask(context, request)));
  if (always) await eachLater(context, connection, id, open.lastSeq, (request) => say(request, 'allow'));
  else if (terminal.json) terminal.result({ json: answers, human: '' });
  return exitCodes.done;
}

/** What is asked for from there on, until the session has ended. */
async function eachLater(
  context: Context,
  connection: Connection,
  sessionId: string,
  fromSeq: number,
  act: (request: SessionEvent) => Promise<void>,
): Promise<void> {
  const following = { sessionId, fromSeq, until: 'ended', signal: context.interrupt.asked } as const;
  for await (const event of sessionEvents(context, connection, following))
    if (event.type === 'tool.permission_request') await act(event);
}

function chosen(
  id: string,
  { requests: open, answered }: OpenRequests,
  { allow, deny, request }: SessionApproveOptions,
): readonly SessionEvent[] {
  const shown = table(
    ['REQUEST', 'WANTS'],
    open.map((each) => [requestIdOf(each), describeRequest(each.data)]),
  );
  const which = `Name one: sallyport session approve ${id} --request REQUEST`;
  const found = open.filter((each) => requestIdOf(each) === request);
  if (found.length > 0) return found;
  if (request !== undefined && answered) throw answeredBefore(answered);
  if (open.length === 0)
    throw new CommandError(
      'no_request',
      `Session ${id} waits for no answer${answered ? `; request ${toldBefore(answered)}` : '.'}`,
      exitCodes.notFound,
      'See which do: sallyport session requests',
    );
  if (request !== undefined) {
    throw new CommandError(
      'no_request',
      `Session ${id} waits for others:\n${shown}`,
      exitCodes.notFound,
      which,
    );
  }
  // Who answers without having been asked has seen one of them, not all.
  if (open.length > 1 && (allow === true || deny === true))
    throw new CommandError(
      'ambiguous',
      `Session ${id} waits for several answers:\n${shown}`,
      exitCodes.usage,
      which,
    );
  return open;
}

async function ask({ interrupt }: Context, { data }: SessionEvent): Promise<Behavior> {
  const said = await question(`Allow ${printable(describeRequest(data))}? [y]es, [N]o: `, interrupt.asked);
  return /^y(es)?$/i.test(said.trim()) ? 'allow' : 'deny';
}

function told({ data }: SessionEvent, { answer: { behavior }, faster }: Answered): string {
  const byWhom = faster === undefined ? '' : `, by ${faster && `${faster} `}who answered before`;
  return printable(`${behavior === 'allow' ? 'Allowed' : 'Refused'}${byWhom}: ${describeRequest(data)}`);
}

function answeredBefore(answered: AnsweredRequest): CommandError {
  const { request, answer } = answered;
  return new CommandError(
    'already_answered',
    `Request ${toldBefore(answered)}`,
    exitCodes.conflict,
    `See what waits: sallyport session requests ${request.session_id}`,
    { details: { answer: toAnswer(request, answer) } },
  );
}

function toldBefore({ request, answer }: AnsweredRequest): string {
  const name = accountName(answer);
  const how = toAnswer(request, answer).behavior === 'allow' ? 'allowed' : 'refused';
  return printable(`${requestIdOf(request)} was ${how} before${name && `, by ${name}`}.`);
}

function refuseUnasked({ terminal }: Context): void {
  if (hasTerminal() && !terminal.json) return;
  throw new CommandError(
    'usage',
    'There is no terminal to ask for an answer.',
    exitCodes.usage,
    'Say it: --allow, --deny, or --always for what comes later, too.',
  );
}
