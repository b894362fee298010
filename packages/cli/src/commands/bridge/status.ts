import { resolve } from 'node:path';
import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { ago } from '../../io/ago.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { listEnvironments } from '../environments.ts';
import { bridgesHere, ofDirectory } from './local.ts';

const header = ['ENVIRONMENT', 'STATUS', 'LAST SEEN', 'SESSIONS', 'PID', 'NAME', 'DIRECTORY'];

/** The bridges of this machine, as its files and the service know them. */
export async function bridgeStatus(context: Context, { dir }: { readonly dir?: string }): Promise<Output> {
  const connection = await connect(context);
  const environments = await listEnvironments(connection, context.interrupt.asked);
  const all = bridgesHere(context);
  const bridges = (dir === undefined ? all : ofDirectory(all, dir))
    .filter(({ environmentId, pid }) => environmentId !== undefined || pid !== undefined)
    .map((bridge) => {
      const environment = environments.find((each) => each.environment_id === bridge.environmentId);
      return {
        environment_id: bridge.environmentId ?? null,
        // `unregistered`: the service does not have it, not yet or no more.
        status: environment?.status ?? 'unregistered',
        last_seen_at: environment?.last_seen_at ?? null,
        active_sessions: environment?.active_sessions ?? 0,
        pid: bridge.pid ?? null,
        name: bridge.name,
        directory: bridge.directory,
      };
    });
  const now = context.clock.now();
  const rows = bridges.map((each) => [
    each.environment_id ?? '-',
    each.status,
    each.last_seen_at === null ? '-' : ago(each.last_seen_at, now),
    String(each.active_sessions),
    each.pid === null ? 'not running' : String(each.pid),
    each.name,
    each.directory,
  ]);
  const where = dir === undefined ? 'on this machine' : `in ${resolve(dir)}`;
  const none = `No bridge is known ${where}.\nStart one: sallyport bridge run --exec 'CMD'`;
  return { json: bridges, human: rows.length === 0 ? none : table(header, rows) };
}
