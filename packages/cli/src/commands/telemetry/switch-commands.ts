import type { Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';

export function addTelemetrySwitchCommands(telemetry: Command, act: Act): void {
  examples(
    telemetry
      .command('status')
      .description('Say whether telemetry is on, which switch decides it, and what waits on this machine')
      .action(act(async () => (await import('./status.ts')).telemetryStatus)),
    'sallyport telemetry status',
    'sallyport telemetry status --json',
  );
  examples(
    telemetry
      .command('on')
      .description('Let commands report what they do')
      .action(act(async () => (await import('./switch.ts')).telemetryOn)),
    'sallyport telemetry on',
  );
  examples(
    telemetry
      .command('off')
      .description('Report nothing from now on, and delete what waits')
      .action(act(async () => (await import('./switch.ts')).telemetryOff)),
    'sallyport telemetry off',
  );
  examples(
    telemetry
      .command('show')
      .description('Show exactly what would be sent: what waits, and an event as the next command makes it')
      .action(act(async () => (await import('./show.ts')).telemetryShow)),
    'sallyport telemetry show',
    'sallyport telemetry show --json',
  );
}
