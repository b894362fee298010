import { ServiceError } from '@sallyport/core';
import type {
  AuthorizationServer,
  Organization,
  OrganizationChanges,
  OrganizationType,
} from '@sallyport/oauth/server';
import { table } from '@sallyport/core/table';
import { organizationRecord } from './accounts.ts';
import { withAuthorizationServer } from './authorization.ts';
import type { ConfigFlags } from './flags.ts';
import { operatorCommand } from './operator-command.ts';
import { organizationNamed } from './organization-named.ts';
import { printJson, printList, printRecord, type Columns, type PrintFlags } from './print.ts';

/** `admin org list`. */
export async function listOrganizations(flags: ConfigFlags & PrintFlags): Promise<void> {
  const organizations = await withAuthorizationServer(flags, (server) => server.organizations.list(), {
    mayMake: true,
  });
  printList(organizations.map(organizationRecord), columns, flags);
}

const columns: Columns<ReturnType<typeof organizationRecord>> = {
  header: ['NAME', 'TYPE', 'TIER', 'CAPABILITIES', 'KEEPS DATA', 'ID'],
  row: (organization) => [
    organization.name,
    organization.organization_type,
    organization.rate_limit_tier,
    organization.capabilities.join(' '),
    organization.zero_data_retention ? 'no' : 'yes',
    organization.id,
  ],
  none: 'There is no organization.',
};

export interface SetOrganizationFlags extends ConfigFlags {
  readonly type?: OrganizationType;
  readonly tier?: string;
  readonly capability?: readonly string[];
  readonly zeroDataRetention?: boolean;
}

/** `admin org set`: what is not given stays. */
export async function setOrganization(org: string, flags: SetOrganizationFlags): Promise<void> {
  const { type, tier, capability, zeroDataRetention } = flags;
  const changes: OrganizationChanges = {
    ...(type !== undefined && { type }),
    ...(tier !== undefined && { rateLimitTier: tier }),
    ...(capability !== undefined && { capabilities: capability }),
    ...(zeroDataRetention !== undefined && { zeroDataRetention }),
  };
  const changed = await withOrganization(org, flags, ({ organizations }, { id }) =>
    organizations.change(id, changes),
  );
  printJson(organizationRecord(changed));
}

/** `admin org settings list`, and what the other two print. */
export async function listSettings(org: string, flags: ConfigFlags & PrintFlags): Promise<void> {
  printSettings(await withOrganization(org, flags, settingsOf), flags);
}

function printSettings(record: Awaited<ReturnType<typeof settingsOf>>, flags: PrintFlags): void {
  const rows = Object.entries(record.settings).map(([key, value]) => [key, JSON.stringify(value)]);
  const says = (width: number) =>
    rows.length === 0 ? 'It has no settings.' : table(['SETTING', 'VALUE'], rows, width);
  printRecord(record, says, flags);
}

/** `admin org settings set`. */
export async function setSetting(
  org: string,
  { key, value }: { readonly key: string; readonly value: unknown },
  flags: ConfigFlags & PrintFlags,
): Promise<void> {
  const settings = await withOrganization(org, flags, async (server, organization) => {
    await server.managedSettings.set(organization.id, key, value);
    return settingsOf(server, organization);
  });
  printSettings(settings, flags);
}

/** `admin org settings unset`. */
export async function unsetSetting(org: string, key: string, flags: ConfigFlags & PrintFlags): Promise<void> {
  const settings = await withOrganization(org, flags, async (server, organization) => {
    const { id } = organization;
    const { settings: present } = await settingsOf(server, organization);
    if (!Object.hasOwn(present, key))
      throw new ServiceError(
        'not_found',
        `The organization has no setting ${key}: ${operatorCommand(['org', 'settings', 'list', id], flags)} shows those that it has.`,
      );
    await server.managedSettings.unset(id, key);
    return settingsOf(server, organization);
  });
  printSettings(settings, flags);
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
    act(server, await organizationNamed(server, given, flags)),
  );
}
