import { apiKeyScopes, scopeLines } from '@sallyport/core/scopes';
import type { Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';
import { collect, duration } from '../option-values.ts';

export function addKeysCommands(program: Command, act: Act): void {
  const keys = program.command('keys').description('API keys: logins for scripts and machines');
  examples(
    keys
      .command('create')
      .description('Create an API key and print it; it is shown this once')
      .option('--name <name>', 'what to recognise it by in lists')
      .option('--scope <scope>', "within your login's, which is the default; may be repeated", collect, [])
      .option('--expires <time>', 'such as 90m, 12h or 30d; default: never', duration)
      .addHelpText(
        'after',
        `\nScopes:\n${scopeLines(apiKeyScopes)}\n\nA script uses it as SALLYPORT_TOKEN, or in the header \`Authorization: Bearer\`.`,
      )
      .action(act(async () => (await import('./create.ts')).keysCreate)),
    'sallyport keys create --name ci --expires 90d',
    'sallyport keys create --name backup --scope profile > key.txt',
  );
  examples(
    keys
      .command('list')
      .description('List your API keys in the organization, newest first')
      .action(act(async () => (await import('./list.ts')).keysList)),
    'sallyport keys list',
    'sallyport keys list --json',
  );
  examples(
    keys
      .command('revoke')
      .description('Revoke API keys: whatever uses them is refused at once')
      .argument('<id...>', 'the keys, by the ids of the list')
      .option('-y, --yes', 'do not ask')
      .action(act(async () => (await import('./revoke.ts')).keysRevoke)),
    'sallyport keys revoke 095f41c0-325e-49d2-bb29-5638aec500fc',
    'sallyport keys revoke --yes 095f41c0-325e-49d2-bb29-5638aec500fc 1c0e7b3a-9f43-4c1f-8a56-2f1b6f0d9e11',
  );
}
