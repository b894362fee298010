import type { Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';

export function addOrgCommands(program: Command, act: Act): void {
  const org = program.command('org').description('The organizations of this account');
  examples(
    org
      .command('list')
      .description('List the organizations of this account; a * marks the one in use here')
      .action(act(async () => (await import('./list.ts')).orgList)),
    'sallyport org list',
    'sallyport org list --json',
  );
  examples(
    org
      .command('use')
      .description('Act for an organization from now on: the setting `organization`, of the profile in use')
      .addHelpText(
        'after',
        '\nA login is for one organization: for another one there is `sallyport login --org ORG`.',
      )
      .argument('<org>', 'the organization, by UUID or name')
      .action(act(async () => (await import('./use.ts')).orgUse)),
    'sallyport org use "Second team"',
    'sallyport org use 0b6f7a52-8d5e-4b5e-9d3f-5c1f0e2a7b11',
    'sallyport config unset organization && sallyport org list',
  );
}
