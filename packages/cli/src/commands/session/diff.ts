import { GitError, type LocalBridge } from '@sallyport/bridge';
import type { Session } from '@sallyport/core/contract';
import { connect, type Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { printable } from '../../io/printable.ts';
import { bridgesHere } from '../bridge/local.ts';
import { listEnvironments } from '../environments.ts';
import { aboutSession } from './advice.ts';
import { askForChanges, changesInLog } from './changes-in-log.ts';
import { showChanges, type ChangesView, type SessionChanges } from './changes-view.ts';
import { isFinal } from './end.ts';
import { sessionNamed } from './named.ts';

export interface SessionDiffOptions extends ChangesView {
  /** What its bridge tells, even where its worktree is here. */
  readonly remote?: boolean;
}

/** Shows what a session changed: in its worktree, if that is on this machine, else as its bridge told it. */
export async function sessionDiff(
  context: Context,
  options: SessionDiffOptions,
  id: string,
): Promise<number> {
  const bridges = bridgesHere(context);
  const here = options.remote === true ? undefined : await changesHere(context, bridges, id);
  return showChanges(context, options, here ?? (await changesElsewhere(context, bridges, id)));
}

async function changesHere(
  { clock, interrupt, terminal }: Context,
  bridges: readonly LocalBridge[],
  id: string,
): Promise<SessionChanges | undefined> {
  const [workspace] = bridges.flatMap((bridge) => bridge.workspace(id) ?? []);
  if (!workspace) return undefined;
  const { directory } = workspace;
  try {
    // A person does not read what is in binary files, `git apply` does.
    const binary = terminal.json || !terminal.isForEyes;
    const sources = await workspace.diff({ clock, signal: interrupt.asked, binary });
    return { session_id: id, from: 'worktree', directory, sources };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new CommandError(
      'git_failed',
      `git could not tell the difference: ${error.message}.`,
      exitCodes.failed,
      `Look there yourself: ${directory}`,
      { cause: error },
    );
  }
}

async function changesElsewhere(
  context: Context,
  bridges: readonly LocalBridge[],
  given: string,
): Promise<SessionChanges> {
  const connection = await connect(context);
  const signal = context.interrupt.asked;
  const id = await sessionNamed(connection, given, signal);
  const session = await aboutSession(connection.client.sessions.get({ params: { id }, signal }));
  refuseWithoutSource(session);
  const told = isFinal(session.status)
    ? await changesInLog(context, connection, session)
    : await askForChanges(context, connection, session);
  if (told) return { session_id: id, from: 'log', ...told };
  throw await whyNothing(context, connection, bridges, session);
}

function refuseWithoutSource({ id, session_context: given }: Session): void {
  const { sources } = (given ?? {}) as { readonly sources?: readonly unknown[] };
  if (Array.isArray(sources) && sources.length > 0) return;
  throw new CommandError(
    'no_worktree',
    `Session ${id} has no source of its own: it runs in its environment's directory, and what changes there may be of others.`,
    exitCodes.notFound,
    'Give one a worktree: sallyport session run "..." --source .',
  );
}

/** It has ended, and its worktree is not here: the service knows where it ran. */
async function whyNothing(
  context: Context,
  connection: Connection,
  bridges: readonly LocalBridge[],
  { id, environment_id: environmentId }: Session,
): Promise<CommandError> {
  const refuse = (where: string, nextStep: string) =>
    new CommandError(
      'no_worktree',
      `${where}, and its log does not tell what it changed: it was ended by force, or its bridge was killed, is an older one, or runs with --changes none.`,
      exitCodes.notFound,
      nextStep,
    );
  if (bridges.some((bridge) => bridge.environmentId === environmentId))
    return refuse(
      `The worktree of session ${id} is not on this machine any more`,
      'The bridge keeps those with changes; it keeps all with: sallyport bridge run --worktrees keep',
    );
  const environments = await listEnvironments(connection, context.interrupt.asked);
  const there = environments.find((each) => each.environment_id === environmentId);
  const machine = there ? ` ${printable(there.machine_name)} (${printable(there.directory)})` : '';
  return refuse(
    `Session ${id} ran on another machine${machine}`,
    `Its worktree may be there; run it there: sallyport session diff ${id}`,
  );
}
