import { didYouMean } from '@sallyport/core';
import type { Connection } from '../connect.ts';
import { CommandError } from '../io/exit.ts';
import { toFailure } from '../io/failure.ts';
import { knownEnvironments } from './known-environments.ts';

type Asking = Pick<Connection, 'clientOptions' | 'organizationId'>;

/** Waits for a call about the environment of that id; where the service knows none, the id that is nearest is named. */
export async function orNearest<T>(
  connection: Asking,
  id: string,
  signal: AbortSignal,
  call: Promise<T>,
): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const { code, message, exitCode, nextStep } = toFailure(error);
    if (code !== 'not_found') throw error;
    const known = await knownEnvironments(connection, signal).catch(() => []);
    const suggestion = didYouMean(
      id,
      known.map((each) => each.id),
    );
    if (suggestion === undefined) throw error;
    throw new CommandError(code, `${message} ${suggestion}`, exitCode, nextStep, { cause: error });
  }
}
