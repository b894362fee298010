import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import type { Output } from '../../io/terminal.ts';
import { environmentNamed } from '../environment-named.ts';
import { aboutEnvironment, describe } from './describe.ts';

export async function envGet(context: Context, _options: object, given: string): Promise<Output> {
  const connection = await connect(context);
  const signal = context.interrupt.asked;
  const id = await environmentNamed(connection, given, signal);
  const found = connection.client.environments.get({ params: { env_id: id }, signal });
  return describe(await aboutEnvironment(connection, id, signal, found), context.clock.now());
}
