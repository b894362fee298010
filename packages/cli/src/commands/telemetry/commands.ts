import type { Command } from 'commander';
import type { Act } from '../act.ts';
import { addReadingCommands } from './reading-commands.ts';
import { addTelemetrySwitchCommands } from './switch-commands.ts';

export function addTelemetryCommands(program: Command, act: Act): void {
  const telemetry = program
    .command('telemetry')
    .description('Read what was recorded; see and switch what commands report about themselves');
  addReadingCommands(telemetry, act);
  addTelemetrySwitchCommands(telemetry, act);
}
