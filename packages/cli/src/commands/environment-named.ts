import type { Connection } from '../connect.ts';
import { CommandError } from '../io/exit.ts';
import { freest, listEnvironments, onlyOnline } from './environments.ts';
import { knownEnvironments, type KnownEnvironment } from './known-environments.ts';
import { idsMeant, type Kind } from './meant.ts';
import { startABridge } from './start-a-bridge.ts';

type Asking = Pick<Connection, 'clientOptions' | 'organizationId'>;
type Choosing = Asking & Pick<Connection, 'client'>;

/**
 * What `--env` names: an environment by its id, the beginning of it or its name, or by `tag:NAME` the one online with that tag
 * which has the fewest sessions. `undefined`: the only one online.
 */
export async function chooseEnvironment(
  connection: Choosing,
  given: string | undefined,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<string> {
  const tag = given?.startsWith('tag:') ? given.slice('tag:'.length) : undefined;
  if (given !== undefined && tag === undefined) return environmentNamed(connection, given, signal);
  const environments = await listEnvironments(connection, signal);
  try {
    return (tag === undefined ? onlyOnline(environments, now) : freest(environments, tag)).environment_id;
  } catch (error) {
    if (!(error instanceof CommandError) || error.code !== 'no_environment') throw error;
    const { code, message, exitCode, nextStep = '' } = error;
    throw new CommandError(code, message, exitCode, await startABridge(connection, nextStep, signal));
  }
}

/** The id of the environment that a person means by its id, by the beginning of its id, or by its name. */
export async function environmentNamed(
  connection: Asking,
  given: string,
  signal: AbortSignal,
): Promise<string> {
  const [id = given] = await environmentsNamed(connection, [given], signal);
  return id;
}

/** The same for several, each once; they share one look at what there is. */
export function environmentsNamed(
  connection: Asking,
  given: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  return idsMeant(given, environments, () => knownEnvironments(connection, signal));
}

const environments: Kind<KnownEnvironment> = {
  what: 'environment',
  prefix: 'env',
  naming: (each) => each,
  header: ['ID', 'NAME', 'STATE', 'DIRECTORY'],
  row: ({ id, name, state, directory }) => [id, name, state, directory],
};
