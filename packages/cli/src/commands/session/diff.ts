import { GitError, type LocalBridge } from '@sallyport/bridge';
import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import type { Output } from '../../io/terminal.ts';
import { bridgesHere } from '../bridge/local.ts';
import { listEnvironments } from '../environments.ts';
import { aboutSession } from './advice.ts';

/** Shows what a session changed in the worktrees that it left on this machine. */
export async function sessionDiff(context: Context, _options: object, id: string): Promise<Output> {
  const { clock, env, interrupt } = context;
  const bridges = bridgesHere(context);
  const [workspace] = bridges.flatMap((bridge) => bridge.workspace(id) ?? []);
  if (!workspace) throw await whyNotHere(context, bridges, id);
  const color = process.stdout.isTTY && !env['NO_COLOR'] && !context.terminal.json;
  try {
    const sources = await workspace.diff({ clock, signal: interrupt.asked, color });
    const human = sources.map(({ text }) => text.trimEnd()).filter((text) => text !== '');
    if (human.length === 0)
      context.terminal.note(`Session ${id} has changed nothing in ${workspace.directory}.`);
    return { json: { session_id: id, directory: workspace.directory, sources }, human: human.join('\n') };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new CommandError(
      'git_failed',
      `git could not tell the difference: ${error.message}.`,
      exitCodes.failed,
      `Look there yourself: ${workspace.directory}`,
      { cause: error },
    );
  }
}

/** There is nothing here: the service knows where the session ran. */
async function whyNotHere(
  context: Context,
  bridges: readonly LocalBridge[],
  id: string,
): Promise<CommandError> {
  const connection = await connect(context);
  const signal = context.interrupt.asked;
  const session = await aboutSession(connection.client.sessions.get({ params: { id }, signal }));
  const { environment_id: environmentId, session_context: given } = session;
  const refuse = (message: string, nextStep: string) =>
    new CommandError('no_worktree', message, exitCodes.notFound, nextStep);
  const { sources } = (given ?? {}) as { readonly sources?: readonly unknown[] };
  if (!Array.isArray(sources) || sources.length === 0)
    return refuse(
      `Session ${id} has no source of its own: it runs in its environment's directory.`,
      'Give one a worktree: sallyport session run "..." --source .',
    );
  if (bridges.some((bridge) => bridge.environmentId === environmentId))
    return refuse(
      `The worktree of session ${id} is not on this machine any more, or not yet.`,
      'The bridge keeps those with changes; it keeps all with: sallyport bridge run --worktrees keep',
    );
  const environments = await listEnvironments(connection, signal);
  const there = environments.find((each) => each.environment_id === environmentId);
  const where = there ? ` ${there.machine_name} (${there.directory})` : '';
  return refuse(
    `Session ${id} runs on another machine${where}: its worktree is there.`,
    `Run it there: sallyport session diff ${id}`,
  );
}
