import { ServiceError } from '@sallyport/core';
import type {
  AuthorizationServer,
  Organization,
  OrganizationChanges,
  OrganizationType,
} from '@sallyport/oauth/server';
import { organizationRecord, printJson } from './accounts.ts';
import { withAuthorizationServer } from './authorization.ts';
import type { ConfigFlags } from './flags.ts';
import { organizationNamed } from './organization-named.ts';

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
export async function setOrganization(org: string, flags: SetOrganizationFlags): Promise<void> {
  const { type, tier, capability } = flags;
  const changes: OrganizationChanges = {
    ...(type !== undefined && { type }),
    ...(tier !== undefined && { rateLimitTier: tier }),
    ...(capability !== undefined && { capabilities: capability }),
  };
  const changed = await withOrganization(org, flags, ({ organizations }, { id }) =>
    organizations.change(id, changes),
  );
  printJson(organizationRecord(changed));
}

/** `admin org settings list`, and what the other two print. */
export async function listSettings(org: string, flags: ConfigFlags): Promise<void> {
  printJson(await withOrganization(org, flags, settingsOf));
}

/** `admin org settings set`. */
export async function setSetting(
  org: string,
  { key, value }: { readonly key: string; readonly value: unknown },
  flags: ConfigFlags,
): Promise<void> {
  const settings = await withOrganization(org, flags, async (server, organization) => {
    await server.managedSettings.set(organization.id, key, value);
    return settingsOf(server, organization);
  });
  printJson(settings);
}

/** `admin org settings unset`. */
export async function unsetSetting(org: string, key: string, flags: ConfigFlags): Promise<void> {
  const settings = await withOrganization(org, flags, async (server, organization) => {
    const { id } = organization;
    const { settings: present } = await settingsOf(server, organization);
    if (!Object.hasOwn(present, key))
      throw new ServiceError(
        'not_found',
        `The organization has no setting ${key}: \`sallyport-gateway admin org settings list ${id}\` shows those that it has.`,
      );
    await server.managedSettings.unset(id, key);
    return settingsOf(server, organization);
  });
  printJson(settings);
}

/** As `GET /api/agent_code/settings` answers. */
async function settingsOf({ managedSettings }: AuthorizationServer, { id }: Organization) {
  return { settings: await managedSettings.of(id) };
}

/** Runs `act` where the organization exists; says how to find one where it does not. */
function withOrganization<T>(
  given: string,
  flags: ConfigFlags,
  act: (server: AuthorizationServer, organization: Organization) => Promise<T>,
): Promise<T> {
  return withAuthorizationServer(flags, async (server) =>
    act(server, await organizationNamed(server, given)),
  );
}
