import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import type { Output } from '../../io/terminal.ts';
import { environmentNamed } from '../environment-named.ts';
import { aboutEnvironment } from './describe.ts';

export async function envArchive(context: Context, _options: object, given: string): Promise<Output> {
  const connection = await connect(context);
  const signal = context.interrupt.asked;
  const id = await environmentNamed(connection, given, signal);
  const archiving = connection.client.environments.archive({ params: { env_id: id }, body: {}, signal });
  const archived = await aboutEnvironment(connection, id, signal, archiving);
  return { json: archived, human: `Environment ${id} is archived.` };
}
