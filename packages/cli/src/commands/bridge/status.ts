import { resolve } from 'node:path';
import type { LocalBridge } from '@sallyport/bridge';
import type { OrganizationEnvironment } from '@sallyport/core/contract';
import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { ago } from '../../io/ago.ts';
import type { Failure } from '../../io/exit.ts';
import { tellFailure, toFailure } from '../../io/failure.ts';
import { size } from '../../io/size.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { listEnvironments } from '../environments.ts';
import { bridgesHere, ofDirectory } from './local.ts';

const header = ['ENVIRONMENT', 'STATUS', 'LAST SEEN', 'SESSIONS', 'KEPT', 'PID', 'NAME', 'DIRECTORY'];

/**
 * The bridges of this machine, as its files and the service know them. Where the service cannot be asked, what the files know is
 * shown all the same, and the exit code is that of the failure.
 */
export async function bridgeStatus(
  context: Context,
  { dir }: { readonly dir?: string },
): Promise<Output | number> {
  const { terminal, interrupt, clock } = context;
  const all = bridgesHere(context);
  const known = (dir === undefined ? all : ofDirectory(all, dir)).filter(
    ({ environmentId, pid }) => environmentId !== undefined || pid !== undefined,
  );
  const asked = await askService(context);
  const bridges = await Promise.all(
    known.map(async (bridge) => ({
      environment_id: bridge.environmentId ?? null,
      ...seenByService(bridge, asked.environments),
      pid: bridge.pid ?? null,
      name: bridge.name,
      directory: bridge.directory,
      kept: await keptBy(bridge, context),
    })),
  );
  interrupt.asked.throwIfAborted();
  const now = clock.now();
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
  const output = {
    json: bridges,
    human: rows.length === 0 ? none : table(header, rows, terminal.widthOf('out')),
  };
  if (asked.failure === undefined) return output;
  terminal.result(output);
  const message = `The gateway could not be asked, so this is what this machine knows. ${asked.failure.message}`;
  tellFailure({ ...asked.failure, message }, terminal);
  return asked.failure.exitCode;
}

interface Asked {
  /** `undefined`: it could not be asked. */
  readonly environments: readonly OrganizationEnvironment[] | undefined;
  readonly failure?: Failure;
}

async function askService(context: Context): Promise<Asked> {
  try {
    const connection = await connect(context);
    return { environments: await listEnvironments(connection, context.interrupt.asked) };
  } catch (error) {
    return { environments: undefined, failure: toFailure(error, context) };
  }
}

/** `unregistered`: the service does not have it, not yet or no more; `unknown`: it could not be asked. */
function seenByService({ environmentId, pid, sessionIds }: LocalBridge, environments: Asked['environments']) {
  if (environments === undefined)
    return {
      status: 'unknown',
      last_seen_at: null,
      active_sessions: pid === undefined ? 0 : sessionIds.length,
    };
  const found = environments.find((each) => each.environment_id === environmentId);
  if (!found) return { status: 'unregistered', last_seen_at: null, active_sessions: 0 };
  const { status, last_seen_at, active_sessions } = found;
  return { status, last_seen_at, active_sessions };
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
