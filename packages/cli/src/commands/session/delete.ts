import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../../io/confirm.ts';
import { deleteEach } from '../delete-each.ts';
import { aboutSession } from './advice.ts';
import { sessionsNamed } from './named.ts';

export interface SessionDeleteOptions {
  readonly yes?: boolean;
}

/** Deletes sessions with their events. */
export async function sessionDelete(
  context: Context,
  { yes = false }: SessionDeleteOptions,
  ...given: string[]
): Promise<number> {
  const connection = await connect(context);
  const signal = context.interrupt.asked;
  const ids = await sessionsNamed(connection, given, signal);
  if (!yes) {
    const what = ids.length === 1 ? `session ${ids.join()} with its` : `${ids.length} sessions with their`;
    await confirm(context, `Delete ${what} events? A running one is ended.`);
  }
  return deleteEach(context, ids, 'Session', (id) =>
    aboutSession(connection.client.sessions.delete({ params: { id }, signal })),
  );
}
