import type { Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';

export function addDoctorCommands(program: Command, act: Act): void {
  examples(
    program
      .command('doctor')
      .description('Look for what stands between this machine and the gateway; exit 1 if anything fails')
      .action(act(async () => (await import('./doctor.ts')).doctor)),
    'sallyport doctor',
    'sallyport doctor --json --base-url https://sallyport.example',
  );
}
