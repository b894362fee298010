import { Option, type Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';
import { collect } from '../option-values.ts';

export function addFeedbackCommands(program: Command, act: Act): void {
  examples(
    program
      .command('feedback')
      .description('Send a description to whoever runs the gateway, with a ZIP of what explains it')
      .argument('<text...>', 'what it is about, in quotes or as words; `-` reads it from stdin')
      .addOption(
        new Option('--bundle <file>', 'this ZIP, as it is').conflicts(['collect', 'file', 'session']),
      )
      .option(
        '--collect',
        'besides versions and settings: your last sessions, the bridges, what telemetry waits',
      )
      .option('--session <id>', 'the events of this session (may be repeated)', collect, [])
      .option('--file <file>', 'this text file, such as a log (may be repeated)', collect, [])
      .option('-y, --yes', 'do not ask')
      .action(act(async () => (await import('./feedback.ts')).feedback)),
    'sallyport feedback "the bridge loses its login" --collect',
    'sallyport feedback "see the log" --file agent.log --yes',
  );
}
