import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../../io/confirm.ts';
import { exitCodes } from '../../io/exit.ts';
import { tellFailure, toFailure } from '../../io/failure.ts';
import { aboutSession } from './advice.ts';

export interface SessionDeleteOptions {
  readonly yes?: boolean;
}

/** Deletes sessions with their events. One that is not there does not keep the others, but the exit code tells. */
export async function sessionDelete(
  context: Context,
  { yes = false }: SessionDeleteOptions,
  ...given: string[]
): Promise<number> {
  const { terminal, interrupt } = context;
  const { client } = await connect(context);
  const ids = [...new Set(given)];
  if (!yes) {
    const what = ids.length === 1 ? `session ${ids.join()} with its` : `${ids.length} sessions with their`;
    await confirm(context, `Delete ${what} events? A running one is ended.`);
  }
  const results: object[] = [];
  let exitCode: number = exitCodes.done;
  for (const id of ids) {
    try {
      results.push(await aboutSession(client.sessions.delete({ params: { id }, signal: interrupt.asked })));
      if (!terminal.json) terminal.result({ json: undefined, human: `Session ${id} is deleted.` });
    } catch (error) {
      const failure = toFailure(error);
      if (failure.exitCode !== exitCodes.notFound) throw error;
      exitCode = failure.exitCode;
      results.push({ id, deleted: false, error: failure.code, error_description: failure.message });
      tellFailure(failure, terminal);
    }
  }
  if (terminal.json) terminal.result({ json: results, human: '' });
  return exitCode;
}
