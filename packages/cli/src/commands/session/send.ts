import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import type { Output } from '../../io/terminal.ts';
import { textArgument } from '../text-argument.ts';
import { aboutSession } from './advice.ts';
import { hasClosedInput } from './closed-input.ts';
import { sessionNamed } from './named.ts';

/** Sends a message to a session; its process gets it if its bridge keeps standard input open. */
export async function sessionSend(
  context: Context,
  _options: object,
  given: string,
  ...words: string[]
): Promise<Output> {
  const nextStep = 'Say what to send: sallyport session send ID "..."';
  const text = await textArgument(context, words, { what: 'message', nextStep });
  const connection = await connect(context);
  const signal = context.interrupt.asked;
  const id = await sessionNamed(connection, given, signal);
  // With an id of its own a repeated request does not append it twice.
  const message = { id: context.ids.next('evt'), type: 'session.message', data: { text } };
  const { events } = await aboutSession(
    connection.client.sessions.append({ params: { id }, body: { events: [message] }, signal }),
  );
  const [sent] = events;
  if (sent && (await hasClosedInput(context, connection, { sessionId: id, before: sent.seq })))
    context.terminal.note(
      'The command will not read it: its input is closed. Run its bridge so that it can: sallyport bridge run --interactive',
    );
  return { json: { session_id: id, ...sent }, human: `Sent as event ${sent?.seq ?? '?'} of session ${id}.` };
}
