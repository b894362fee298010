import type { SeverityName } from '@sallyport/core';
import { Option, type Command } from 'commander';
import { examples } from '../../help.ts';
import type { Act } from '../act.ts';
import { account, collect, integerBetween, moment, naturalNumber } from '../option-values.ts';
import { takeOptions } from '../take.ts';

/** Core's names: written out, because the command line starts without loading core. */
const severityNames: readonly SeverityName[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'];

/** The commands that read what the gateway has stored. */
export function addReadingCommands(telemetry: Command, act: Act): void {
  examples(
    filterOptions(takeOptions(telemetry.command('query'), 50))
      .description(
        'Show stored records in the order in which they came, the latest last; an admin sees all, everybody else their own',
      )
      .option('--oldest', 'begin with the oldest that match, not with the latest')
      .action(act(async () => (await import('./query.ts')).telemetryQuery)),
    'sallyport telemetry query --since 1h --severity error',
    'sallyport telemetry query --account ann@example.com --since 1d',
    'sallyport telemetry query --attribute http.status=503 --text timeout --json',
  );
  examples(
    filterOptions(telemetry.command('tail'))
      .description('Show records as they come, until interrupted')
      .option('--last <number>', 'how many of those before to show first', naturalNumber, 10)
      .action(act(async () => (await import('./tail.ts')).telemetryTail)),
    'sallyport telemetry tail',
    'sallyport telemetry tail --service agent_cli --severity warn --last 0',
  );
  examples(
    filterOptions(telemetry.command('stats'), { since: '1h' })
      .description('Count records over time, by severity and by service')
      .option('--buckets <number>', 'parts of the time', integerBetween(1, 240), 60)
      .action(act(async () => (await import('./stats.ts')).telemetryStats)),
    'sallyport telemetry stats',
    'sallyport telemetry stats --since 24h --severity error --json',
  );
}

function filterOptions(command: Command, { since }: { readonly since?: string } = {}): Command {
  return command
    .addOption(
      new Option('--since <when>', 'received from then on: a span such as 15m, 2h, 7d, or a time')
        .argParser(moment)
        .default(since && moment(since), since),
    )
    .option('--until <when>', 'received up to then', moment)
    .addOption(new Option('--severity <name>', 'at least so severe').choices(severityNames))
    .addOption(
      new Option(
        '--account <who>',
        "sent by WHO: an e-mail address, an account's id, or `me`; others' are for admins",
      ).argParser(account),
    )
    .option('--service <name>', 'of this service')
    .option('--event <name>', 'with this event name')
    .option('--trace <id>', 'of this trace')
    .option('--attribute <key=value>', 'with this attribute; may be repeated', collect, [])
    .option('--text <text>', 'with this text in the body or an attribute');
}
