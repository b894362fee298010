import { connect } from '../../connect.ts';
import type { Context } from '../../context.ts';
import { printable } from '../../io/printable.ts';
import type { Output } from '../../io/terminal.ts';
import { metadataOf } from './metadata.ts';

export interface EnvCreateOptions {
  readonly name: string;
  readonly dir: string;
  readonly metadata: readonly string[];
}

export async function envCreate(context: Context, options: EnvCreateOptions): Promise<Output> {
  const metadata = metadataOf(options.metadata);
  const { client } = await connect(context);
  const created = await client.environments.create({
    headers: { 'idempotency-key': context.ids.uuid() },
    // The directory is that machine's, not this one's: it goes as it stands.
    body: { machine_name: options.name, directory: options.dir, metadata },
    signal: context.interrupt.asked,
  });
  context.terminal.note(
    `Give it a bridge, on its machine and in its directory: sallyport bridge run --env ${printable(created.id)} --exec 'CMD'`,
  );
  return { json: created, human: created.id };
}
