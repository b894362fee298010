import type { Context } from '../../context.ts';
import { connect } from '../../connect.ts';
import type { Output } from '../../io/terminal.ts';

export async function sessionShow(context: Context, _options: object, id: string): Promise<Output> {
  const { client } = await connect(context);
  const session = await client.sessions.get({ params: { id }, signal: context.interrupt.asked });
  const lines = [
    ['Session', session.id],
    ['Title', session.title],
    ['Status', session.status],
    ['Environment', session.environment_id],
    ['Tags', session.tags.join(', ')],
    ['Created', session.created_at],
    ['Updated', session.updated_at],
  ];
  return {
    json: session,
    human: lines.map(([name, value]) => `${`${name}:`.padEnd(13)}${value}`.trimEnd()).join('\n'),
  };
}
