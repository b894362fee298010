import { ServiceError } from '@sallyport/core';
import { connect, type Connection } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { confirm } from '../../io/confirm.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import { advising } from '../../io/next-step.ts';
import type { Output } from '../../io/terminal.ts';
import { environmentNamed } from '../environment-named.ts';
import { orNearest } from '../unknown-environment.ts';
import { listEnvironments } from '../environments.ts';
import { aboutEnvironment, bridgesHere, ofDirectory, severalBridges } from './local.ts';

export interface BridgeUnregisterOptions {
  readonly dir?: string;
  readonly yes?: boolean;
}

/** Removes an environment at the service and from this machine's files; a bridge that runs for it ends. */
export async function bridgeUnregister(
  context: Context,
  { dir, yes = false }: BridgeUnregisterOptions,
  given?: string,
): Promise<Output> {
  const named = environmentOf(context, dir, given);
  const connection = await connect(context);
  const environmentId = await environmentNamed(connection, named, context.interrupt.asked);
  const known = bridgesHere(context).filter((each) => each.environmentId === environmentId);
  const { client } = connection;
  if (!yes && (await isOnline(context, connection, environmentId)))
    await confirm(
      context,
      `Remove environment ${environmentId}? Its bridge is online: it ends, with its sessions.`,
    );
  const removal = client.bridge.unregister({
    params: { environment_id: environmentId },
    signal: context.interrupt.asked,
  });
  const advised = advising(
    removal.then(
      () => true,
      (error: unknown) => {
        // Removed elsewhere: what is left of it here goes too.
        if (error instanceof ServiceError && error.status === 404 && known.length > 0) return false;
        throw error;
      },
    ),
    aboutEnvironment,
  );
  const wasThere = await orNearest(connection, environmentId, context.interrupt.asked, advised);
  for (const bridge of known) bridge.forget();
  const human = wasThere
    ? `Environment ${environmentId} is removed.`
    : `Environment ${environmentId} was removed before; this machine has forgotten it.`;
  return { json: { environment_id: environmentId, deleted: wasThere, forgotten: known.length > 0 }, human };
}

async function isOnline(context: Context, connection: Connection, environmentId: string): Promise<boolean> {
  const environments = await listEnvironments(connection, context.interrupt.asked);
  return environments.some((each) => each.environment_id === environmentId && each.status === 'online');
}

function environmentOf(context: Context, dir: string | undefined, given: string | undefined): string {
  if ((given === undefined) === (dir === undefined)) {
    throw new CommandError(
      'usage',
      given === undefined ? 'Which environment?' : 'An environment and --dir exclude each other.',
      exitCodes.usage,
      'Name it, or its directory: sallyport bridge unregister --dir .',
    );
  }
  if (given !== undefined) return given;
  const bridges = ofDirectory(bridgesHere(context), dir ?? '.').filter(
    (each) => each.environmentId !== undefined,
  );
  const [bridge, ...others] = bridges;
  if (bridge?.environmentId === undefined) {
    throw new CommandError(
      'not_registered',
      `No bridge is registered for ${dir ?? '.'} from this machine.`,
      exitCodes.notFound,
      'See which are: sallyport bridge status',
    );
  }
  if (others.length > 0)
    throw severalBridges(bridges, 'Name the environment: sallyport bridge unregister ENVIRONMENT');
  return bridge.environmentId;
}
