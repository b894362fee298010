import type { Command } from 'commander';
import { examples } from '../help.ts';
import type { Act } from './act.ts';

export function addLoginCommands(program: Command, act: Act): void {
  examples(
    program
      .command('login')
      .description('Log in to the gateway, by browser or by device code')
      .option('--device', 'show a code to type in a browser on any machine')
      .option('--session-key-stdin', 'read a session key from stdin (for scripts)')
      .option('--org <org>', 'the organization, by UUID or name, which is in use then')
      .action(act(async () => (await import('./login.ts')).login)),
    'sallyport login',
    'sallyport login --device',
    'sallyport login --org 0b6f7a52-8d5e-4b5e-9d3f-5c1f0e2a7b11',
    'sallyport-gateway admin session-key | sallyport login --session-key-stdin',
  );
  examples(
    program
      .command('logout')
      .description('End this login and forget it')
      .action(act(async () => (await import('./logout.ts')).logout)),
    'sallyport logout',
    'sallyport logout --base-url https://sallyport.example',
  );
  examples(
    program
      .command('whoami')
      .description('Show the account and the organization of this login')
      .action(act(async () => (await import('./whoami.ts')).whoami)),
    'sallyport whoami',
    'sallyport whoami --json',
  );
  examples(
    program
      .command('token')
      .description('Print an access token for a script, renewed if it is about to run out')
      .addHelpText(
        'after',
        '\nIt holds for an hour at most: let the script ask for each call, or make a key with `sallyport keys create`.',
      )
      .action(act(async () => (await import('./token.ts')).token)),
    'curl -H "Authorization: Bearer $(sallyport token)" http://127.0.0.1:8787/api/oauth/profile',
    'SALLYPORT_TOKEN="$(sallyport token)" ./nightly.sh',
  );
}
