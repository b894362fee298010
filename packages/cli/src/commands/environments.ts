import type { OrganizationEnvironment } from '@sallyport/core/contract';
import type { Connection } from '../connect.ts';
import { ago } from '../io/ago.ts';
import { CommandError, exitCodes } from '../io/exit.ts';
import { table } from '../io/table.ts';

/** The most that the service gives at once. */
const pageSize = 100;
const mostNamed = 5;

/** The organization's environments, the first hundred. */
export async function listEnvironments(
  { client, organizationId }: Connection,
  signal: AbortSignal,
): Promise<readonly OrganizationEnvironment[]> {
  const { environments } = await client.bridge.list({
    params: { org_uuid: organizationId },
    query: { limit: pageSize },
    signal,
  });
  return environments;
}

/** The environment that a session goes to where none is named: the only one online. */
export function onlyOnline(
  environments: readonly OrganizationEnvironment[],
  now: number,
): OrganizationEnvironment {
  const online = environments.filter(({ status }) => status === 'online');
  const [only, ...others] = online;
  if (only === undefined) throw noneOnline(environments, now);
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

function noneOnline(environments: readonly OrganizationEnvironment[], now: number): CommandError {
  const known = [...environments].sort((a, b) => b.last_seen_at.localeCompare(a.last_seen_at));
  const rows = known
    .slice(0, mostNamed)
    .map((each) => [each.environment_id, each.machine_name, each.directory, ago(each.last_seen_at, now)]);
  const more = known.length > mostNamed ? `\n… and ${known.length - mostNamed} more` : '';
  const [message, where] =
    known.length === 0
      ? ['No environment is online.', 'in a working directory']
      : [
          `No environment is online; these are known:\n${table(['ID', 'MACHINE', 'DIRECTORY', 'LAST SEEN'], rows)}${more}`,
          "in an environment's directory",
        ];
  return new CommandError(
    'no_environment',
    message,
    exitCodes.notFound,
    `Start a bridge ${where}: sallyport bridge run --exec 'CMD'`,
  );
}
