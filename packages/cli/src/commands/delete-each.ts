import type { Context } from '../context.ts';
import { exitCodes } from '../io/exit.ts';
import { tellFailure, toFailure } from '../io/failure.ts';

/** Deletes (or whatever `done` says) one after the other. One that is not there does not keep the others, but the exit code tells. */
export async function deleteEach(
  { terminal }: Context,
  ids: readonly string[],
  what: string,
  remove: (id: string) => Promise<object>,
  done = 'deleted',
): Promise<number> {
  const results: object[] = [];
  let exitCode: number = exitCodes.done;
  for (const id of ids) {
    try {
      results.push(await remove(id));
      if (!terminal.json) terminal.result({ json: undefined, human: `${what} ${id} is ${done}.` });
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
