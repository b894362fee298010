import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import type { Output } from '../../io/terminal.ts';
import { aboutEnvironment } from './describe.ts';

export async function envArchive(context: Context, _options: object, id: string): Promise<Output> {
  const { client } = await connect(context);
  const call = { params: { env_id: id }, body: {}, signal: context.interrupt.asked };
  const archived = await aboutEnvironment(client.environments.archive(call));
  return { json: archived, human: `Environment ${id} is archived.` };
}
