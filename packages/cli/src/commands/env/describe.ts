import type { ManagedEnvironment } from '@sallyport/core/contract';
import type { Connection } from '../../connect.ts';
import { ago } from '../../io/ago.ts';
import { advising } from '../../io/next-step.ts';
import { pairs } from '../../io/table.ts';
import type { Output } from '../../io/terminal.ts';
import { accountName } from '../account-name.ts';
import { orNearest } from '../unknown-environment.ts';

/** Waits for a call about one environment; what the person can do where it is unknown is said with it. */
export function aboutEnvironment<T>(
  connection: Pick<Connection, 'clientOptions' | 'organizationId'>,
  id: string,
  signal: AbortSignal,
  call: Promise<T>,
): Promise<T> {
  const nextStep = 'See which there are: sallyport env list --all';
  const advised = advising(call, {
    not_found: nextStep,
    environment_deleted: nextStep,
    already_archived: 'To remove it for good: sallyport env delete ID',
  });
  return orNearest(connection, id, signal, advised);
}

function stateOf({ archived_at }: ManagedEnvironment): 'active' | 'archived' {
  return typeof archived_at === 'string' ? 'archived' : 'active';
}

/** One environment, as the result of a command. */
export function describe(environment: ManagedEnvironment, now: number): Output {
  const when = (timestamp = '') => timestamp && `${timestamp} (${ago(timestamp, now)})`;
  return {
    json: environment,
    human: pairs([
      ['Environment:', environment.id],
      ['State:', stateOf(environment)],
      ['Name:', environment.machine_name],
      ['Directory:', environment.directory],
      ['Metadata:', JSON.stringify(environment.metadata)],
      ['Created by:', accountName(environment)],
      ['Created:', when(environment.created_at)],
      ['Updated:', when(environment.updated_at)],
      ['Archived:', when(environment.archived_at ?? '')],
    ]),
  };
}
