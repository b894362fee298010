import { organizationTypes, roles } from '@sallyport/core/organization';
import { Argument, InvalidArgumentError, Option, type Command } from 'commander';
import type { Role } from '@sallyport/oauth/server';
import { asJson, configurable, type ConfigFlags } from './flags.ts';
import type { SetOrganizationFlags } from './organizations.ts';
import type { PrintFlags } from './print.ts';

type OrgFlags = ConfigFlags & { readonly org?: string };

/** `admin user list|role|unlock|remove`. */
export function addMemberCommands(user: Command): void {
  const load = () => import('./users.ts');

  configurable(user.command('list'))
    .description('Prints the accounts with their roles.')
    .option('--org <org>', "an organization's members alone")
    .option(...asJson)
    .action(async (flags: OrgFlags & PrintFlags) => (await load()).listUsers(flags));
  const role = new Argument('<role>', 'what it may do').choices(roles);
  configurable(user.command('role <email>').addArgument(role))
    .description('Gives an account a role in an organization, of which it becomes a member if it is none.')
    .option('--org <org>', "the organization (default: the account's only one)")
    .action(async (email: string, given: Role, flags: OrgFlags) =>
      (await load()).setUserRole(email, given, flags),
    );
  configurable(user.command('unlock <email>'))
    .description('Lets an account sign in again that too many wrong passwords have locked out.')
    .option(...asJson)
    .action(async (email: string, flags: ConfigFlags & PrintFlags) =>
      (await load()).unlockUser(email, flags),
    );
  configurable(user.command('remove <email>'))
    .description(
      'Deletes an account with all its logins, keys and devices; `erase` also takes its work away.',
    )
    .option('--org <org>', 'only ends its membership of this organization')
    .action(async (email: string, flags: OrgFlags) => (await load()).removeUser(email, flags));
}

/** `admin org list|set|delete` and `admin org settings list|set|unset`. */
export function addOrganizationCommands(org: Command): void {
  const load = () => import('./organizations.ts');

  configurable(org.command('list'))
    .description('Prints the organizations.')
    .option(...asJson)
    .action(async (flags: ConfigFlags & PrintFlags) => (await load()).listOrganizations(flags));
  configurable(org.command('set').argument('<org>', 'the organization, by id or name'))
    .description('Changes an organization; prints it as JSON.')
    .addOption(new Option('--type <type>', 'what kind of organization it is').choices(organizationTypes))
    .option('--tier <tier>', 'its rate limit tier')
    .option('--capability <capability...>', 'its capabilities, in place of those that it has')
    .option(
      '--zero-data-retention',
      'from now on nothing that comes from it is kept: feedback is refused, telemetry dropped',
    )
    .option('--no-zero-data-retention', 'it is kept again')
    .action(async (id: string, flags: SetOrganizationFlags, command: Command) => {
      const { type, tier, capability, zeroDataRetention } = flags;
      if ((type ?? tier ?? capability ?? zeroDataRetention) === undefined)
        command.error(
          'error: nothing is to be set: give --type, --tier, --capability or --zero-data-retention',
        );
      await (await load()).setOrganization(id, flags);
    });

  configurable(org.command('delete').argument('<org>', 'the organization, by id or name'))
    .description(
      'Deletes an organization with all that is in it, for good; the accounts of its members stay.',
    )
    .option('--yes', 'does not ask first')
    .action(async (id: string, flags: ConfigFlags & { yes?: boolean }, command: Command) => {
      if (flags.yes !== true && !process.stdin.isTTY)
        command.error('error: a deletion cannot be undone: confirm it with --yes');
      await (await import('./organization-data.ts')).deleteOrganization(id, flags);
    });

  const settings = org
    .command('settings')
    .description("What an organization sets for its members' programs.");
  configurable(settings.command('list').argument('<org>', 'the organization, by id or name'))
    .description("Prints an organization's settings.")
    .option(...asJson)
    .action(async (id: string, flags: ConfigFlags & PrintFlags) => (await load()).listSettings(id, flags));
  configurable(
    settings
      .command('set')
      .argument('<org>', 'the organization, by id or name')
      .argument('<key>', 'the setting')
      .argument('<json>', 'the value, as JSON', (text: string) => ({ value: parseValue(text) })),
  )
    .description("Sets one, and prints an organization's settings.")
    .option(...asJson)
    .addHelpText(
      'after',
      `
Which settings there are is up to the programs that read them (GET /api/agent_code/settings).

Example:
  sallyport-gateway admin org settings set Default autoUpdates false`,
    )
    .action(async (id: string, key: string, { value }: { value: unknown }, flags: ConfigFlags) =>
      (await load()).setSetting(id, { key, value }, flags),
    );
  configurable(
    settings
      .command('unset')
      .argument('<org>', 'the organization, by id or name')
      .argument('<key>', 'the setting'),
  )
    .description("Removes one, and prints an organization's settings.")
    .option(...asJson)
    .action(async (id: string, key: string, flags: ConfigFlags) =>
      (await load()).unsetSetting(id, key, flags),
    );
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new InvalidArgumentError('It must be JSON: true, 5, or text in its quotes, as in \'"text"\'.');
  }
}
