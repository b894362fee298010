import { pages } from '@sallyport/core/client';
import { contract, type ManagedEnvironment, type OrganizationEnvironment } from '@sallyport/core/contract';
import type { Connection } from '../connect.ts';
import type { OfAccount } from './account-name.ts';
import { environmentStates, type EnvironmentKind, type EnvironmentState } from './environment-states.ts';
import { listEnvironments, tagsOf } from './environments.ts';
import { gather, largestPage, orNone } from './take.ts';

/** What a session may run on, as both lists of the service together tell it. */
export interface KnownEnvironment extends OfAccount {
  readonly id: string;
  readonly kind: EnvironmentKind;
  readonly name: string;
  readonly directory: string;
  readonly state: EnvironmentState;
  readonly tags: readonly string[];
  readonly managed?: ManagedEnvironment;
  readonly bridge?: OrganizationEnvironment;
}

/** All that the organization has, what can be used best first. `name` is a part of the name, in any case. */
export async function knownEnvironments(
  connection: Pick<Connection, 'clientOptions' | 'organizationId'>,
  signal: AbortSignal,
  { name }: { readonly name?: string | undefined } = {},
): Promise<readonly KnownEnvironment[]> {
  const [bridges, managed] = await Promise.all([
    listEnvironments(connection, signal),
    managedEnvironments(connection, signal, name),
  ]);
  return merged(bridges, managed).filter(
    (each) => name === undefined || each.name.toLowerCase().includes(name.toLowerCase()),
  );
}

/** Both lists as one: an environment that is in both is one. */
function merged(
  bridges: readonly OrganizationEnvironment[],
  managed: readonly ManagedEnvironment[],
): readonly KnownEnvironment[] {
  const bridgeOf = new Map(bridges.map((each) => [each.environment_id, each]));
  const created = managed.map((each): KnownEnvironment => {
    const bridge = bridgeOf.get(each.id);
    bridgeOf.delete(each.id);
    return {
      id: each.id,
      kind: 'managed',
      name: each.machine_name,
      directory: each.directory,
      state: typeof each.archived_at === 'string' ? 'archived' : (bridge?.status ?? 'offline'),
      tags: tagsOf(each.metadata),
      account: (bridge ?? each).account,
      managed: each,
      ...(bridge && { bridge }),
    };
  });
  const registered = [...bridgeOf.values()].map((bridge): KnownEnvironment => ({
    id: bridge.environment_id,
    kind: 'bridge',
    name: bridge.machine_name,
    directory: bridge.directory,
    state: bridge.status,
    tags: tagsOf(bridge.metadata),
    account: bridge.account,
    bridge,
  }));
  return [...registered, ...created].sort(
    (a, b) => environmentStates.indexOf(a.state) - environmentStates.indexOf(b.state) || newer(a, b),
  );
}

function newer(a: KnownEnvironment, b: KnownEnvironment): number {
  const at = ({ bridge, managed }: KnownEnvironment) => bridge?.last_seen_at ?? managed?.created_at ?? '';
  return at(b).localeCompare(at(a)) || a.id.localeCompare(b.id);
}

function managedEnvironments(
  { clientOptions }: Pick<Connection, 'clientOptions'>,
  signal: AbortSignal,
  name: string | undefined,
): Promise<readonly ManagedEnvironment[]> {
  const query = { limit: largestPage, ...(name !== undefined && { name }) };
  const listed = pages(clientOptions, contract.environments.list, { query }, { signal });
  // A service may have bridges and no managed environments.
  return orNone(gather(listed, (body) => body));
}
