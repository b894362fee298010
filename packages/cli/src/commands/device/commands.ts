import type { Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';

export function addDeviceCommands(program: Command, act: Act): void {
  const device = program
    .command('device')
    .description('Trusted devices: the machines that may register bridges for your account');
  examples(
    device
      .command('trust')
      .description('Trust this machine, and keep its token with the login')
      .option('--name <name>', "what to recognise it by in lists; default: the machine's name")
      .addHelpText('after', '\n`sallyport bridge run` does this by itself where it is needed.')
      .action(act(async () => (await import('./trust.ts')).deviceTrust)),
    'sallyport device trust',
    'sallyport device trust --name laptop',
  );
  examples(
    device
      .command('list')
      .description('List your trusted devices in the organization, newest first')
      .action(act(async () => (await import('./list.ts')).deviceList)),
    'sallyport device list',
    'sallyport device list --json',
  );
  examples(
    device
      .command('revoke')
      .description('Revoke trusted devices: their bridges end, and register no more')
      .argument('<id...>', 'the devices, by the ids of the list')
      .option('-y, --yes', 'do not ask')
      .action(act(async () => (await import('./revoke.ts')).deviceRevoke)),
    'sallyport device revoke 095f41c0-325e-49d2-bb29-5638aec500fc',
    'sallyport device revoke --yes 095f41c0-325e-49d2-bb29-5638aec500fc 1c0e7b3a-9f43-4c1f-8a56-2f1b6f0d9e11',
  );
}
