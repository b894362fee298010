import { roles } from '@sallyport/core/organization';
import { scopeLines, scopes } from '@sallyport/core/scopes';
import { Option, type Command } from 'commander';
import type { AddUserFlags } from './accounts.ts';
import { addAccountDataCommands, addAuditCommand } from './audit-program.ts';
import { addDeadLetterCommands } from './dead-letters-program.ts';
import { addFeedbackCommands } from './feedback-program.ts';
import { asJson, configurable, type ConfigFlags } from './flags.ts';
import { addClientCommands, addHoldingCommands } from './holdings-program.ts';
import { addMemberCommands, addOrganizationCommands } from './members-program.ts';
import type { PrintFlags } from './print.ts';

/** The `admin` commands: they work on the data directory, also while a gateway runs on it. */
export function addAdminCommands(program: Command): void {
  const admin = program
    .command('admin')
    .description('Accounts, organizations and what they hold; audit log, feedback, backup, keys.');
  const load = () => import('./accounts.ts');

  configurable(admin.command('session-key'))
    .description("Prints a new session key of an account: a person's proof of sign-in, for scripts.")
    .option('--user <email>', 'whose (default: the owner)')
    .action(async (flags: ConfigFlags & { user?: string }) => (await load()).printSessionKey(flags));

  const user = admin.command('user').description('Accounts.');
  configurable(user.command('add <email>'))
    .description('Adds an account to an organization; prints it.')
    .option('--org <org>', "the organization (default: the owner's)")
    .addOption(new Option('--role <role>', 'default: member').choices(roles))
    .option('--password-stdin', 'reads the password from standard input')
    .option(...asJson)
    .action(async (email: string, flags: AddUserFlags) => (await load()).addUser(email, flags));
  configurable(user.command('password <email>'))
    .description('Prints a one-time link to set the password, or sets it.')
    .option('--password-stdin', 'reads the password from standard input')
    .option(...asJson)
    .action(async (email: string, flags: ConfigFlags & PrintFlags & { passwordStdin?: boolean }) =>
      (await load()).setUserPassword(email, flags),
    );
  addMemberCommands(user);
  addAccountDataCommands(user);

  const org = admin.command('org').description('Organizations.');
  configurable(org.command('add <name>'))
    .description('Adds an organization; prints it as JSON.')
    .option(
      '--zero-data-retention',
      'nothing that comes from it is kept: feedback is refused, telemetry dropped',
    )
    .action(async (name: string, flags: ConfigFlags & { zeroDataRetention?: boolean }) =>
      (await load()).addOrganization(name, flags),
    );
  addOrganizationCommands(org);

  const client = admin.command('client').description('OAuth clients.');
  configurable(client.command('add'))
    .description('Registers a public OAuth client; prints it as JSON.')
    .requiredOption('--name <name>', 'shown to people who consent')
    .requiredOption('--redirect-uri <uri...>', 'where codes may be sent')
    .option('--scope <scopes>', 'the most that it may ask for, separated by spaces (default: all)')
    .addHelpText('after', `\nScopes:\n${scopeLines(scopes)}`)
    .action(async (flags: ConfigFlags & { name: string; redirectUri: string[]; scope?: string }) =>
      (await load()).addClient(flags),
    );
  addClientCommands(client);
  addHoldingCommands(admin);

  addFeedbackCommands(admin.command('feedback').description('Feedback that people have sent.'));

  const telemetry = admin.command('telemetry').description('Telemetry that goes upstream.');
  addDeadLetterCommands(
    telemetry
      .command('dead-letters')
      .description('What the upstream refused for good after it was kept here.'),
  );

  addAuditCommand(admin);

  const upstream = admin.command('upstream').description("The gateway's own logins at its upstreams.");
  const loadUpstream = () => import('./upstream-login.ts');
  const whose = 'the area or family whose own upstream it is (default: the one for all, or the only one)';
  configurable(upstream.command('login').argument('[name]', whose))
    .description(
      'Logs the gateway in at an upstream: prints a code to approve in a browser; see upstream.login.',
    )
    .action(async (name: string | undefined, flags: ConfigFlags) =>
      (await loadUpstream()).loginUpstream(name, flags),
    );
  configurable(upstream.command('logout').argument('[name]', whose))
    .description('Ends that login, and removes it.')
    .action(async (name: string | undefined, flags: ConfigFlags) =>
      (await loadUpstream()).logoutUpstream(name, flags),
    );

  configurable(admin.command('backup').argument('<directory>', 'is made, and is a data directory'))
    .description('Copies the store, with its keys, and the feedback; also while a gateway runs on them.')
    .action(async (directory: string, flags: ConfigFlags) =>
      (await import('./backup.ts')).backUp(directory, flags),
    );

  configurable(admin.command('rotate-keys'))
    .description('Publishes the next signing key of access tokens, which takes over by itself.')
    .action(async (flags: ConfigFlags) => (await load()).rotateKeys(flags));
}
