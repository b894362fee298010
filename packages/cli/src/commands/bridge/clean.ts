import { resolve } from 'node:path';
import type { Left, LeftSession, LocalBridge } from '@sallyport/bridge';
import type { Context } from '../../context.ts';
import { ago } from '../../io/ago.ts';
import { confirm } from '../../io/confirm.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { size } from '../../io/size.ts';
import { table } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { ambiguous, meantBy } from '../meant.ts';
import { bridgesHere, ofDirectory } from './local.ts';

export interface BridgeCleanOptions {
  readonly dir?: string;
  readonly yes?: boolean;
}

const words: Record<Left | 'unknown', string> = {
  nothing: 'nothing',
  saved: 'commits that are elsewhere, too',
  commits: 'commits',
  changes: 'changes without a commit',
  unknown: 'git cannot tell',
};

/**
 * Removes from this machine what sessions that are over left and what is elsewhere as well, and the fetched repositories that
 * no session needs; shows what stays. Of sessions that are named it removes everything.
 */
export async function bridgeClean(
  context: Context,
  { dir, yes = false }: BridgeCleanOptions,
  ...named: string[]
): Promise<Output> {
  const signal = context.interrupt.asked;
  const all = bridgesOf(context, dir).map((bridge) => bridge.leftovers(context.clock));
  const sessions = all.flatMap((each) => each.sessions);
  const wanted = new Set(named.map((given) => sessionMeant(given, sessions)));
  refuseUnknown(wanted, sessions);
  if (named.length > 0 && !yes)
    await confirm(
      context,
      `Remove all that is in ${these(wanted.size, 'worktree')}? It may be nowhere else.`,
    );

  const removed: LeftSession[] = [];
  const stay = [];
  let freed = 0;
  for (const session of sessions) {
    signal.throwIfAborted();
    const isNamed = wanted.has(session.sessionId);
    const left = isNamed ? undefined : await session.left(signal);
    const bytes = await session.bytes(signal);
    const mayGo = isNamed || (named.length === 0 && (left === 'nothing' || left === 'saved'));
    if (mayGo && (await session.remove())) {
      removed.push(session);
      freed += bytes;
    } else if (!isNamed) stay.push({ session, left: left ?? ('unknown' as const), bytes });
  }
  for (const each of all) freed += await each.removeRepositories(signal);

  const json = {
    removed: removed.map(({ sessionId }) => sessionId),
    freed_bytes: Math.round(freed),
    kept: stay.map(({ session: { sessionId, directory, keptAt }, left, bytes }) => ({
      session_id: sessionId,
      directory,
      left,
      bytes: Math.round(bytes),
      kept_at: keptAt === undefined ? null : new Date(keptAt).toISOString(),
    })),
  };
  const done = `Removed ${these(removed.length, 'worktree')}; ${size(freed)} are free again.`;
  if (stay.length === 0) return { json, human: done };
  const now = context.clock.now();
  const rows = json.kept.map((each) => [
    each.session_id,
    each.kept_at === null ? '-' : ago(each.kept_at, now),
    size(each.bytes),
    words[each.left],
    each.directory,
  ]);
  const human = [
    done,
    'These stay, since what is in them may be nowhere else:',
    table(['SESSION', 'KEPT', 'SIZE', 'LEFT', 'DIRECTORY'], rows, context.terminal.widthOf('out')),
    'Look at one, or remove it all the same:\n  sallyport session diff ID\n  sallyport bridge clean ID',
  ].join('\n');
  return { json, human };
}

function bridgesOf(context: Context, dir: string | undefined): readonly LocalBridge[] {
  const all = bridgesHere(context);
  if (dir === undefined) return all;
  const bridges = ofDirectory(all, dir);
  if (bridges.length > 0) return bridges;
  throw new CommandError(
    'no_bridge',
    `No bridge is known in ${resolve(dir)}.`,
    exitCodes.notFound,
    'See those of this machine: sallyport bridge status',
  );
}

/** By its id, or the beginning of it. */
export function sessionMeant(
  given: string,
  sessions: readonly Pick<LeftSession, 'sessionId' | 'directory'>[],
): string {
  const found = meantBy(given, sessions, 'session', ({ sessionId: id }) => ({ id }));
  const rows = found.map(({ sessionId, directory }) => [sessionId, directory]);
  if (rows.length > 1) throw ambiguous(given, 'session', ['ID', 'DIRECTORY'], rows);
  return found[0]?.sessionId ?? given;
}

function refuseUnknown(wanted: ReadonlySet<string>, sessions: readonly LeftSession[]): void {
  const unknown = [...wanted].filter((id) => !sessions.some(({ sessionId }) => sessionId === id));
  if (unknown.length === 0) return;
  throw new CommandError(
    'no_worktree',
    `No worktree of ${unknown.join(', ')} stays on this machine.`,
    exitCodes.notFound,
    'See which do: sallyport bridge clean',
  );
}

function these(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
