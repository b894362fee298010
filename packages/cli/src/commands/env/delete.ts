import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../../io/confirm.ts';
import { deleteEach } from '../delete-each.ts';
import { environmentsNamed } from '../environment-named.ts';
import { aboutEnvironment } from './describe.ts';

export interface EnvDeleteOptions {
  readonly yes?: boolean;
}

/** Deletes environments with their bridges' registrations. */
export async function envDelete(
  context: Context,
  { yes = false }: EnvDeleteOptions,
  ...given: string[]
): Promise<number> {
  const connection = await connect(context);
  const signal = context.interrupt.asked;
  const ids = await environmentsNamed(connection, given, signal);
  if (!yes) {
    const what = ids.length === 1 ? `environment ${ids.join()}` : `${ids.length} environments`;
    await confirm(context, `Delete ${what} for good? What runs there is killed.`);
  }
  return deleteEach(context, ids, 'Environment', (id) =>
    aboutEnvironment(
      connection,
      id,
      signal,
      connection.client.environments.delete({ params: { env_id: id }, signal }),
    ),
  );
}
