import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import type { Output } from '../../io/terminal.ts';
import { aboutEnvironment, describe } from './describe.ts';

export async function envGet(context: Context, _options: object, id: string): Promise<Output> {
  const { client } = await connect(context);
  const call = { params: { env_id: id }, signal: context.interrupt.asked };
  return describe(await aboutEnvironment(client.environments.get(call)), context.clock.now());
}
