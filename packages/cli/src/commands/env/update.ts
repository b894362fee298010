import type { UpdateEnvironmentRequest } from '@sallyport/core/contract';
import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';
import type { Output } from '../../io/terminal.ts';
import { environmentNamed } from '../environment-named.ts';
import { aboutEnvironment, describe } from './describe.ts';
import { metadataOf } from './metadata.ts';

export interface EnvUpdateOptions {
  readonly name?: string;
  readonly dir?: string;
  readonly metadata: readonly string[];
  readonly unset: readonly string[];
}

export async function envUpdate(context: Context, options: EnvUpdateOptions, given: string): Promise<Output> {
  const body = changesOf(options);
  if (Object.keys(body).length === 0) {
    throw new CommandError(
      'usage',
      'Nothing to change was given.',
      exitCodes.usage,
      'See: sallyport env update --help',
    );
  }
  const connection = await connect(context);
  const signal = context.interrupt.asked;
  const id = await environmentNamed(connection, given, signal);
  const updated = connection.client.environments.update({ params: { env_id: id }, body, signal });
  return describe(await aboutEnvironment(connection, id, signal, updated), context.clock.now());
}

function changesOf({ name, dir, metadata, unset }: EnvUpdateOptions): UpdateEnvironmentRequest {
  const members = { ...metadataOf(metadata), ...Object.fromEntries(unset.map((key) => [key, null])) };
  return {
    ...(name !== undefined && { machine_name: name }),
    ...(dir !== undefined && { directory: dir }),
    ...(Object.keys(members).length > 0 && { metadata: members }),
  };
}
