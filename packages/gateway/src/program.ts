import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { configurable, type ConfigFlags } from './admin/flags.ts';
import { addAdminCommands } from './admin/program.ts';
import { refuseClearly } from './usage.ts';
import { version } from './version.ts';

/** Parses the command line and runs the command; each one's modules are loaded only when it runs. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  process.stdout.on('error', (error) => void endWithOutput(error));
  // What goes there is for whoever looks: a terminal that is gone, or a full disk, must not end a gateway.
  process.stderr.on('error', () => undefined);
  try {
    await createProgram().parseAsync(argv);
  } catch (error) {
    // Its message is on the screen, or the help that was asked for; wrong usage is 2.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else if (isClosedPipe(error)) return;
    else {
      const { describeFailure } = await import('./admin/failure.ts');
      const { message, exitCode } = describeFailure(error);
      process.stderr.write(`sallyport-gateway: ${message}\n`);
      process.exitCode = exitCode;
    }
  }
}

/** `| head` has read enough. What else cannot be written is missing from what a script believes to have. */
async function endWithOutput(error: Error): Promise<void> {
  if (isClosedPipe(error)) return;
  const { whyNotWritten } = await import('@sallyport/core');
  process.stderr.write(`sallyport-gateway: Standard output cannot be written: ${whyNotWritten(error)}.\n`);
  process.exit(1);
}

function isClosedPipe(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EPIPE';
}

export function createProgram(): Command {
  const program = new Command('sallyport-gateway')
    .description('The Sallyport gateway: authorization server, work dispatcher, event streams and telemetry.')
    .version(version)
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      `
Every setting can also come from the environment (SALLYPORT_PORT, ...) or from a file (--config).
Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.

Examples:
  sallyport-gateway
  sallyport-gateway start --port 0 --data-dir ./data
  sallyport-gateway admin session-key --user owner@localhost`,
    );

  configurable(program.command('start', { isDefault: true }))
    .description('Serves until SIGTERM or SIGINT.')
    .option('--print-setup', 'print the one-time link of a new installation even without a terminal')
    // Also what is no command comes here, as an argument of the one that needs no name.
    .allowExcessArguments()
    .action(async (flags: ConfigFlags & { printSetup?: boolean }, command: Command) => {
      if (command.args.length > 0) await refuseArguments(program, command);
      const { start } = await import('./admin/start.ts');
      await start(flags);
    });

  configurable(program.command('migrate'))
    .description('Brings the store up to date, without serving.')
    .action(async (flags: ConfigFlags) => {
      const { migrateStore } = await import('./admin/migrate.ts');
      await migrateStore(flags);
    });

  configurable(program.command('doctor'))
    .description('Checks configuration, data directory, store, upstreams and the export of telemetry.')
    .option('--json', 'one JSON document')
    .action(async (flags: ConfigFlags & { json?: boolean }) => {
      const { doctor } = await import('./admin/doctor.ts');
      await doctor(flags);
    });

  configurable(program.command('config'))
    .description('Prints the effective configuration and where each setting comes from.')
    .option('--json', 'one JSON document')
    .action(async (flags: ConfigFlags & { json?: boolean }) => {
      const { printConfig } = await import('./admin/config.ts');
      printConfig(flags);
    });

  configurable(program.command('drift'))
    .description('Prints where what passes through departed from the contract; see upstream.validation.')
    .option('--json', 'one JSON document')
    .action(async (flags: ConfigFlags & { json?: boolean }) => {
      const { printDrift } = await import('./admin/drift.ts');
      printDrift(flags);
    });

  configurable(program.command('openapi'))
    .description('Prints the OpenAPI 3.1 document of all endpoints as JSON.')
    .action(async (flags: ConfigFlags) => {
      const { printOpenApi } = await import('./admin/openapi.ts');
      printOpenApi(flags);
    });

  program
    .command('unit')
    .description('Prints a systemd system unit for the gateway, for an account that may do nothing else.')
    .option('--config <file>', 'the YAML or JSON file with the settings of the service')
    .option('--user <name>', 'the account that it runs as', toUserName, 'sallyport')
    .action(async (options: { user: string; config?: string }) => {
      const { printUnit } = await import('./admin/unit.ts');
      printUnit(options);
    });

  addAdminCommands(program);
  refuseClearly(program);
  return program;
}

/** As useradd(8) takes it. */
function toUserName(text: string): string {
  if (!/^[a-z_][a-z0-9_-]{0,31}$/.test(text))
    throw new InvalidArgumentError('It must be the name of an account, such as sallyport.');
  return text;
}

async function refuseArguments(program: Command, start: Command): Promise<void> {
  const [first = ''] = program.args;
  if (first === start.name()) start.error(`error: start takes no arguments, but got ${start.args.join(' ')}`);
  const { didYouMean } = await import('@sallyport/core');
  const names = program.commands.map((command) => command.name());
  const meant = didYouMean(first, names);
  program.error(`error: unknown command '${first}'${meant === undefined ? '' : `. ${meant}`}`);
}
