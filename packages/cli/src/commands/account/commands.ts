import type { Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';

export function addAccountCommands(program: Command, act: Act): void {
  examples(
    program
      .command('access')
      .description('Show what this account may do in the organization')
      .action(act(async () => (await import('./access.ts')).access)),
    'sallyport access',
    'sallyport access --json',
  );
  examples(
    program
      .command('roles')
      .description('List the roles that an account may have, with their permissions')
      .action(act(async () => (await import('./roles.ts')).roles)),
    'sallyport roles',
    'sallyport roles --json',
  );
  examples(
    program
      .command('settings')
      .description("Show the organization's managed settings, for its members' programs")
      .addHelpText('after', '\nThe settings of this command line are those of `sallyport config list`.')
      .action(act(async () => (await import('./settings.ts')).settings)),
    'sallyport settings',
    'sallyport settings --json',
  );
}
