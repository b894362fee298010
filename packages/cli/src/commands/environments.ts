import { pages } from '@sallyport/core/client';
import { contract, type OrganizationEnvironment } from '@sallyport/core/contract';
import type { Connection } from '../connect.ts';
import { ago } from '../io/ago.ts';
import { CommandError, exitCodes } from '../io/exit.ts';
import { table } from '../io/table.ts';
import { gather, largestPage } from './take.ts';

const mostNamed = 5;

/** The organization's environments that have a bridge, or had one of late. */
export function listEnvironments(
  { clientOptions, organizationId }: Pick<Connection, 'clientOptions' | 'organizationId'>,
  signal: AbortSignal,
): Promise<readonly OrganizationEnvironment[]> {
  const input = { params: { org_uuid: organizationId }, query: { limit: largestPage } };
  const listed = pages(clientOptions, contract.bridge.list, input, { signal });
  return gather(listed, ({ environments }) => environments);
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
      `Several environments are online:\n${table(['ID', 'NAME', 'DIRECTORY'], rows)}`,
      exitCodes.usage,
      'Name one with --env: by its id, the beginning of it, or its name.',
    );
  }
  return only;
}

/** The environment online with that tag which runs the fewest sessions. */
export function freest(
  environments: readonly OrganizationEnvironment[],
  tag: string,
): OrganizationEnvironment {
  const online = environments.filter(({ status }) => status === 'online');
  const [first] = online
    .filter(({ metadata }) => tagsOf(metadata).includes(tag))
    .sort((a, b) => a.active_sessions - b.active_sessions);
  if (first) return first;
  const tags = [...new Set(online.flatMap(({ metadata }) => tagsOf(metadata)))].sort();
  throw new CommandError(
    'no_environment',
    `No environment with the tag ${JSON.stringify(tag)} is online.${tags.length === 0 ? '' : ` Online are those with: ${tags.join(', ')}.`}`,
    exitCodes.notFound,
    `Start a bridge with it: sallyport bridge run --exec 'CMD' --tag ${tag}`,
  );
}

/** The tags by which `--env tag:NAME` and lists know an environment. */
export function tagsOf({ tags }: OrganizationEnvironment['metadata']): readonly string[] {
  return Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : [];
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
          `No environment is online; these are known:\n${table(['ID', 'NAME', 'DIRECTORY', 'LAST SEEN'], rows)}${more}`,
          "in an environment's directory",
        ];
  return new CommandError(
    'no_environment',
    message,
    exitCodes.notFound,
    `Start a bridge ${where}: sallyport bridge run --exec 'CMD'`,
  );
}
