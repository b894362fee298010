import { resolve } from 'node:path';
import type { LocalBridge } from '@sallyport/bridge';
import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { ago } from '../../io/ago.ts';
import { size } from '../../io/size.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { listEnvironments } from '../environments.ts';
import { bridgesHere, ofDirectory } from './local.ts';

const header = ['ENVIRONMENT', 'STATUS', 'LAST SEEN', 'SESSIONS', 'KEPT', 'PID', 'NAME', 'DIRECTORY'];

/** The bridges of this machine, as its files and the service know them. */
export async function bridgeStatus(context: Context, { dir }: { readonly dir?: string }): Promise<Output> {
  const connection = await connect(context);
  const environments = await listEnvironments(connection, context.interrupt.asked);
  const all = bridgesHere(context);
  const known = (dir === undefined ? all : ofDirectory(all, dir)).filter(
    ({ environmentId, pid }) => environmentId !== undefined || pid !== undefined,
  );
  const bridges = await Promise.all(
    known.map(async (bridge) => {
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
        kept: await keptBy(bridge, context),
      };
    }),
  );
  const now = context.clock.now();
  const rows = bridges.map((each) => [
    each.environment_id ?? '-',
    each.status,
    each.last_seen_at === null ? '-' : ago(each.last_seen_at, now),
    String(each.active_sessions),
    describeKept(each.kept),
    each.pid === null ? 'not running' : String(each.pid),
    each.name,
    each.directory,
  ]);
  const where = dir === undefined ? 'on this machine' : `in ${resolve(dir)}`;
  const none = `No bridge is known ${where}.\nStart one: sallyport bridge run --exec 'CMD'`;
  return { json: bridges, human: rows.length === 0 ? none : table(header, rows) };
}

interface KeptHere {
  readonly worktrees: number;
  readonly bytes: number;
  /** Of what was fetched for sessions. */
  readonly repository_bytes: number;
}

async function keptBy(bridge: LocalBridge, { clock, interrupt }: Context): Promise<KeptHere> {
  const left = bridge.leftovers(clock);
  const sizes = await Promise.all(left.sessions.map((each) => each.bytes(interrupt.asked)));
  return {
    worktrees: sizes.length,
    bytes: Math.round(sizes.reduce((sum, each) => sum + each, 0)),
    repository_bytes: Math.round(await left.repositoryBytes(interrupt.asked)),
  };
}

function describeKept({ worktrees, bytes, repository_bytes: repositoryBytes }: KeptHere): string {
  if (worktrees === 0 && repositoryBytes === 0) return '-';
  return `${worktrees} (${size(bytes + repositoryBytes)})`;
}
