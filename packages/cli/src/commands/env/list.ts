import { pages } from '@sallyport/core/client';
import { contract } from '@sallyport/core/contract';
import { connect, type Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { ago } from '../../io/ago.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { listEnvironments } from '../environments.ts';
import { take, type TakeOptions } from '../take.ts';
import { stateOf } from './describe.ts';

export interface EnvListOptions extends TakeOptions {
  readonly name?: string;
  readonly online?: boolean;
}

export async function envList(context: Context, options: EnvListOptions): Promise<Output> {
  const connection = await connect(context);
  const now = context.clock.now();
  if (options.online === true)
    return onlineOnes(await listEnvironments(connection, context.interrupt.asked), now);
  const environments = await take(context, options, (limit) =>
    managedPages(context, connection, options, limit),
  );
  const rows = environments.map((each) => [
    each.id,
    stateOf(each),
    each.created_at === undefined ? '-' : ago(each.created_at, now),
    each.machine_name,
    each.directory,
  ]);
  const none =
    options.name === undefined
      ? 'No managed environments yet.\nCreate one: sallyport env create --name NAME --dir DIRECTORY\nThose of bridges: sallyport env list --online'
      : `No managed environment has ${JSON.stringify(options.name)} in its name.`;
  const human = rows.length === 0 ? none : table(['ID', 'STATE', 'CREATED', 'NAME', 'DIRECTORY'], rows);
  return { json: environments, human };
}

async function* managedPages(
  context: Context,
  { clientOptions }: Connection,
  { name }: EnvListOptions,
  limit: number,
) {
  const query = { limit, ...(name !== undefined && { name }) };
  const call = { signal: context.interrupt.asked };
  for await (const { body } of pages(clientOptions, contract.environments.list, { query }, call)) yield body;
}

function onlineOnes(environments: Awaited<ReturnType<typeof listEnvironments>>, now: number): Output {
  const online = environments.filter(({ status }) => status === 'online');
  const rows = online.map((each) => [
    each.environment_id,
    ago(each.last_seen_at, now),
    String(each.active_sessions),
    each.machine_name,
    each.directory,
  ]);
  const none = "No environment is online.\nStart a bridge: sallyport bridge run --exec 'CMD'";
  const header = ['ID', 'LAST SEEN', 'SESSIONS', 'NAME', 'DIRECTORY'];
  return { json: online, human: rows.length === 0 ? none : table(header, rows) };
}
