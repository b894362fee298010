import { text } from 'node:stream/consumers';
import type { Session } from '@sallyport/core/contract';
import { connect, type Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import type { Output } from '../../io/terminal.ts';
import { version } from '../../version.ts';
import { onlyOnline } from '../environments.ts';
import { followSession } from './follow.ts';
import { renderEvent } from './render.ts';

export interface SessionRunOptions {
  readonly env?: string;
  readonly title?: string;
  readonly tag: readonly string[];
  readonly detach?: boolean;
}

export async function sessionRun(
  context: Context,
  options: SessionRunOptions,
  argument: string,
): Promise<Output | number> {
  const prompt = argument === '-' ? await text(process.stdin) : argument;
  if (prompt.trim() === '') {
    throw new CommandError(
      'empty_prompt',
      'The prompt is empty.',
      exitCodes.usage,
      'Say what to do: sallyport session run "..."',
    );
  }
  const connection = await connect(context);
  const session = await createSession(context, connection, options, prompt);
  connection.reporter.report({ name: 'session.created', attributes: { 'session.id': session.id } });
  if (options.detach === true) return { json: session, human: session.id };
  context.terminal.note(
    context.terminal.style('dim', `session ${session.id} on ${session.environment_id}`, 'err'),
  );
  return follow(context, connection, session);
}

async function createSession(
  context: Context,
  { client, organizationId }: Connection,
  options: SessionRunOptions,
  prompt: string,
): Promise<Session> {
  const signal = context.interrupt.asked;
  const environmentId =
    options.env ??
    onlyOnline((await client.bridge.list({ params: { org_uuid: organizationId }, signal })).environments)
      .environment_id;
  return client.sessions.create({
    headers: {
      'vendor-client-feature': 'ccr',
      'x-organization-uuid': organizationId,
      'x-environment-runner-version': version,
      'idempotency-key': context.ids.uuid(),
    },
    body: {
      environment_id: environmentId,
      title: options.title ?? firstLine(prompt),
      tags: [...options.tag],
      events: [{ type: 'session.message', data: { text: prompt } }],
    },
    signal,
  });
}

/** The first signal stops the session gracefully and goes on watching; the second one leaves. */
async function follow(context: Context, connection: Connection, session: Session): Promise<number> {
  const { interrupt, terminal } = context;
  const onInterrupt = () => {
    terminal.note('Stopping the session; press Ctrl-C again to leave it to itself.');
    const params = { env_id: session.environment_id, work_id: session.work_id };
    connection.client.bridge.stop({ params, body: { force: false } }).catch((error: unknown) => {
      terminal.note(`The session could not be stopped: ${(error as Error).message}`);
    });
  };
  interrupt.asked.addEventListener('abort', onInterrupt, { once: true });
  const end = await followSession(
    context,
    connection,
    session.id,
    (event) => renderEvent(event, terminal),
    interrupt.insisted,
  );
  interrupt.asked.removeEventListener('abort', onInterrupt);
  connection.reporter.report({
    name: 'session.followed',
    attributes: { 'session.id': session.id, 'session.status': end.status },
  });
  if (interrupt.asked.aborted) return exitCodes.interrupted;
  return end.status === 'done' ? exitCodes.done : exitCodes.failed;
}

/** The start of the prompt's first line, for lists. */
function firstLine(prompt: string): string {
  const line = prompt.trim().split('\n', 1)[0] ?? '';
  const characters = Array.from(new Intl.Segmenter().segment(line), ({ segment }) => segment);
  return characters.length > 80 ? `${characters.slice(0, 79).join('')}…` : line;
}
