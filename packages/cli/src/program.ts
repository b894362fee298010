import { Command, CommanderError } from 'commander';
import { createContext, type Context } from './context.ts';
import { readSettings, defaultBaseUrl } from './config/settings.ts';
import { exitCodes } from './io/exit.ts';
import { watchInterrupts } from './io/interrupt.ts';
import { createTerminal, type Output } from './io/terminal.ts';
import { version } from './version.ts';

/** A command: gives its result, or its exit code where its output was a stream, or nothing. */
export type CommandAct<O> = (
  context: Context,
  options: O,
  ...args: string[]
) => Promise<Output | number | undefined>;

interface GlobalOptions {
  readonly json?: boolean;
  readonly baseUrl?: string;
}

/** Runs the command line `argv` (without node and script) and gives its exit code. Never throws. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  let exitCode: number = exitCodes.done;
  const program = createProgram((code) => (exitCode = code));
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help and version were asked for: 0. Everything else that commander refuses is wrong usage.
    return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
  }
  return exitCode;
}

function createProgram(setExitCode: (code: number) => void): Command {
  const program = new Command('sallyport')
    .description('Log in, turn this machine into a bridge environment, run sessions on it.')
    .version(version, '-V, --version')
    .option('--json', 'one JSON document on stdout, or a JSON line per event')
    .option('--base-url <url>', `the gateway, over SALLYPORT_BASE_URL (default: ${defaultBaseUrl})`)
    .exitOverride()
    .showHelpAfterError('See `sallyport --help`.')
    .addHelpText(
      'after',
      `
Examples:
  $ sallyport login --device
  $ sallyport bridge run --exec 'my-agent --stdin'
  $ sallyport session run "fix the failing test"

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not logged in or refused, 4 not found,
            5 conflict, 6 unreachable or timed out, 130 interrupted`,
    );

  /** Imports the command's module when it runs, and not before: start-up is what everyone waits for. */
  const act =
    <O>(load: () => Promise<CommandAct<O>>) =>
    async (...all: unknown[]) => {
      const command = all.at(-1) as Command;
      const args = all.slice(0, -2) as string[];
      setExitCode(await execute(await load(), command, args));
    };

  program
    .command('login')
    .description('Log in to the gateway, by browser or by device code')
    .option('--device', 'show a code to type in a browser on any machine')
    .option('--session-key-stdin', 'read a session key from stdin (for scripts)')
    .action(act(async () => (await import('./commands/login.ts')).login));
  program
    .command('logout')
    .description('End this login and forget it')
    .action(act(async () => (await import('./commands/logout.ts')).logout));
  program
    .command('whoami')
    .description('Show the account and the organization of this login')
    .action(act(async () => (await import('./commands/whoami.ts')).whoami));

  const bridge = program
    .command('bridge')
    .description('Turn this machine into an environment that sessions run on');
  bridge
    .command('run')
    .description('Register a directory and run the work that comes, until interrupted')
    .option('--dir <directory>', 'the working directory', process.cwd())
    .option('--name <name>', 'the name of this machine in lists')
    .option('--exec <command>', 'the command of each session; it gets the events as NDJSON on stdin')
    .option('--max-sessions <number>', 'sessions at the same time', positiveInteger, 4)
    .option('--env-pass <name...>', 'pass this variable on, though it looks secret')
    .option('--interactive', "keep the command's stdin open for later messages")
    .option('--once', 'end after the first session')
    .option('--remove', 'remove the environment at the end')
    .addHelpText('after', `\nExample:\n  $ sallyport bridge run --exec 'git log --oneline | head -3'`)
    .action(act(async () => (await import('./commands/bridge/run.ts')).bridgeRun));

  const session = program.command('session').description('Run and watch sessions');
  session
    .command('run')
    .description('Create a session, show its output until it ends; exit 0 when it is done, else 1')
    .argument('<prompt>', 'what to do; `-` reads it from stdin')
    .option('--env <id>', 'the environment; default: the only one online')
    .option('--title <title>', 'a title for lists')
    .option('--tag <tag>', 'a tag; may be repeated', collect, [])
    .option('--detach', 'do not wait: print the id and leave')
    .addHelpText(
      'after',
      `\nExamples:\n  $ sallyport session run "fix the failing test"\n  $ sallyport session run - --detach < prompt.txt`,
    )
    .action(act(async () => (await import('./commands/session/run.ts')).sessionRun));
  session
    .command('list')
    .description("List the organization's sessions, newest first")
    .option('--limit <number>', 'how many', positiveInteger, 20)
    .action(act(async () => (await import('./commands/session/list.ts')).sessionList));
  session
    .command('show')
    .description('Show one session')
    .argument('<id>', 'the session')
    .action(act(async () => (await import('./commands/session/show.ts')).sessionShow));
  return program;
}

async function execute<O>(run: CommandAct<O>, command: Command, args: string[]): Promise<number> {
  const options = command.optsWithGlobals<O & GlobalOptions>();
  const terminal = createTerminal({ json: options.json === true });
  const interrupt = watchInterrupts();
  let end: (() => Promise<void>) | undefined;
  try {
    const settings = readSettings(options, process.env);
    const { context, end: finish } = createContext(settings, terminal, interrupt);
    end = finish;
    const result = await run(context, options, ...args);
    if (typeof result === 'number') return result;
    if (result !== undefined) terminal.result(result);
    return exitCodes.done;
  } catch (error) {
    const { reportFailure } = await import('./io/failure.ts');
    return reportFailure(error, terminal, process.env);
  } finally {
    await end?.();
    interrupt.release();
  }
}

function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) {
    throw new CommanderError(
      exitCodes.usage,
      'commander.invalidArgument',
      'error: a number of at least 1 is needed',
    );
  }
  return Number(text);
}

function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}
