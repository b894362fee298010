import { ServiceError } from '@sallyport/core';
import { isForeignPage } from '@sallyport/core/client';
import type { Connection } from '../../connect.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';

const nextStep = 'See which there are: sallyport env list';

/**
 * Throws where the service knows that no bridge can take this environment: a registration would make one of that id, or
 * fall back to another. Without an answer the bridge starts all the same, and waits.
 */
export async function requireEnvironment(
  { client }: Pick<Connection, 'client'>,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const found = await client.environments.get({ params: { env_id: id }, signal }).catch((error: unknown) => {
    if (!(error instanceof ServiceError) || error.status !== 404 || isForeignPage(error)) return undefined;
    throw new CommandError(error.code, error.message, exitCodes.notFound, nextStep, { cause: error });
  });
  if (typeof found?.archived_at !== 'string') return;
  throw new CommandError(
    'already_archived',
    `Environment ${id} is archived: it takes no bridge any more.`,
    exitCodes.conflict,
    nextStep,
  );
}
