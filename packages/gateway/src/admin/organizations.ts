import { ServiceError } from '@sallyport/core';
import type { AuthorizationServer, OrganizationChanges, OrganizationType } from '@sallyport/oauth/server';
import { organizationRecord, printJson } from './accounts.ts';
import { withAuthorizationServer } from './authorization.ts';
import type { ConfigFlags } from './flags.ts';

/** `admin org list`. */
export async function listOrganizations(flags: ConfigFlags): Promise<void> {
  const organizations = await withAuthorizationServer(flags, (server) => server.organizations.list());
  printJson(organizations.map(organizationRecord));
}

export interface SetOrganizationFlags extends ConfigFlags {
  readonly type?: OrganizationType;
  readonly tier?: string;
  readonly capability?: readonly string[];
}

/** `admin org set`: what is not given stays. */
export async function setOrganization(id: string, flags: SetOrganizationFlags): Promise<void> {
  const { type, tier, capability } = flags;
  const changes: OrganizationChanges = {
    ...(type !== undefined && { type }),
    ...(tier !== undefined && { rateLimitTier: tier }),
    ...(capability !== undefined && { capabilities: capability }),
  };
  const changed = await withOrganization(id, flags, ({ organizations }) => organizations.change(id, changes));
  printJson(organizationRecord(changed));
}

/** `admin org settings list`, and what the other two print. */
export async function listSettings(id: string, flags: ConfigFlags): Promise<void> {
  printJson(await withOrganization(id, flags, (server) => settingsOf(server, id)));
}

/** `admin org settings set`. */
export async function setSetting(
  id: string,
  { key, value }: { readonly key: string; readonly value: unknown },
  flags: ConfigFlags,
): Promise<void> {
  const settings = await withOrganization(id, flags, async (server) => {
    await server.managedSettings.set(id, key, value);
    return settingsOf(server, id);
  });
  printJson(settings);
}

/** `admin org settings unset`. */
export async function unsetSetting(id: string, key: string, flags: ConfigFlags): Promise<void> {
  const settings = await withOrganization(id, flags, async (server) => {
    const { settings: present } = await settingsOf(server, id);
    if (!Object.hasOwn(present, key))
      throw new ServiceError(
        'not_found',
        `The organization has no setting ${key}: \`sallyport-gateway admin org settings list ${id}\` shows those that it has.`,
      );
    await server.managedSettings.unset(id, key);
    return settingsOf(server, id);
  });
  printJson(settings);
}

/** As `GET /api/agent_code/settings` answers. */
async function settingsOf({ managedSettings }: AuthorizationServer, id: string) {
  return { settings: await managedSettings.of(id) };
}

/** Runs `act` where the organization exists; says how to find one where it does not. */
function withOrganization<T>(
  id: string,
  flags: ConfigFlags,
  act: (server: AuthorizationServer) => Promise<T>,
): Promise<T> {
  return withAuthorizationServer(flags, async (server) => {
    await requireOrganization(server, id);
    return act(server);
  });
}

export async function requireOrganization({ organizations }: AuthorizationServer, id: string): Promise<void> {
  if (await organizations.get(id)) return;
  throw new ServiceError(
    'not_found',
    `There is no organization with the id ${id}: \`sallyport-gateway admin org list\` shows those that there are.`,
  );
}
