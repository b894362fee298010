import type { Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';

export function addProfileCommands(program: Command, act: Act): void {
  const profile = program
    .command('profile')
    .description('Named sets of settings, each with its login: one for each gateway and account');
  examples(
    profile
      .command('list')
      .description('List the profiles; a * marks the one in use here')
      .action(act(async () => (await import('./show.ts')).profileList)),
    'sallyport profile list',
    'sallyport profile list --json',
  );
  examples(
    profile
      .command('add')
      .description('Add a profile')
      .argument('<name>', 'letters, digits, - and _')
      .option('--organization <uuid>', 'the organization to act for')
      .option('--use', 'use it from now on')
      .addHelpText('after', '\nThe address is the one of --base-url, else the one that holds here.')
      .action(act(async () => (await import('./change.ts')).profileAdd)),
    'sallyport profile add work --base-url https://sallyport.example --use',
    'sallyport profile add local --base-url http://127.0.0.1:8787',
  );
  examples(
    profile
      .command('use')
      .description('Use a profile from now on')
      .argument('<profile>', 'its name')
      .action(act(async () => (await import('./change.ts')).profileUse)),
    'sallyport profile use work',
    'sallyport config unset profile',
  );
  examples(
    profile
      .command('show')
      .description('Show one profile')
      .argument('[profile]', 'its name; default: the one in use here')
      .action(act(async () => (await import('./show.ts')).profileShow)),
    'sallyport profile show',
    'sallyport profile show work --json',
  );
  examples(
    profile
      .command('remove')
      .description('Remove a profile, and end its login')
      .argument('<profile>', 'its name')
      .action(act(async () => (await import('./change.ts')).profileRemove)),
    'sallyport profile remove work',
  );
}
