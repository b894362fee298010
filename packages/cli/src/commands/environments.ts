import type { OrganizationEnvironment } from '@sallyport/core/contract';
import { CommandError, exitCodes } from '../io/exit.ts';
import { table } from '../io/table.ts';

const startOne = "Start one in a working directory: sallyport bridge run --exec 'CMD'";

/** The environment that a session goes to where none is named: the only one online. */
export function onlyOnline(environments: readonly OrganizationEnvironment[]): OrganizationEnvironment {
  const online = environments.filter(({ status }) => status === 'online');
  const [only, ...others] = online;
  if (only === undefined) {
    const asleep = environments.length === 0 ? '' : ` (${environments.length} known, none of them connected)`;
    throw new CommandError(
      'no_environment',
      `No environment is online${asleep}.`,
      exitCodes.notFound,
      startOne,
    );
  }
  if (others.length > 0) {
    const rows = online.map((each) => [each.environment_id, each.machine_name, each.directory]);
    throw new CommandError(
      'several_environments',
      `Several environments are online:\n${table(['ID', 'MACHINE', 'DIRECTORY'], rows)}`,
      exitCodes.usage,
      'Name one with --env ID.',
    );
  }
  return only;
}
