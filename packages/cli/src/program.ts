import { Command } from 'commander';
import { addAccountCommands } from './commands/account/commands.ts';
import { addAdminCommands } from './commands/admin/commands.ts';
import { addApiCommands } from './commands/api/commands.ts';
import { addBridgeCommands } from './commands/bridge/commands.ts';
import { addCompletionCommands } from './commands/completion/commands.ts';
import { addConfigCommands } from './commands/config/commands.ts';
import { addDeviceCommands } from './commands/device/commands.ts';
import { addDoctorCommands } from './commands/doctor/commands.ts';
import { addEnvCommands } from './commands/env/commands.ts';
import { addFeedbackCommands } from './commands/feedback/commands.ts';
import { addKeysCommands } from './commands/keys/commands.ts';
import { addLoginCommands } from './commands/login-commands.ts';
import { addOrgCommands } from './commands/org/commands.ts';
import { addProfileCommands } from './commands/profile/commands.ts';
import { addSessionCommands } from './commands/session/commands.ts';
import { addTelemetryCommands } from './commands/telemetry/commands.ts';
import { defaultBaseUrl } from './config/keys.ts';
import type { Surroundings } from './context.ts';
import { createAct } from './execute.ts';
import { examples, finishHelp, isAskedFor } from './help.ts';
import { exitCodes } from './io/exit.ts';
import { createTerminal } from './io/terminal.ts';
import { refuseEmptyOptions } from './usage.ts';
import { version } from './version.ts';

/** Runs the command line `argv` (without node and script) and gives its exit code. Never throws. */
export async function runProgram(
  argv: readonly string[],
  surroundings: Surroundings = process,
): Promise<number> {
  let exitCode: number = exitCodes.done;
  const program = createProgram((code) => (exitCode = code), surroundings);
  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (isAskedFor(error)) return exitCodes.done;
    // Refused before the command ran: commander may not have come as far as `--json`.
    const { reportFailure } = await import('./io/failure.ts');
    const { env } = surroundings;
    const terminal = createTerminal({ json: flagsOf(argv).includes('--json') }, surroundings, env);
    return reportFailure(error, terminal, { env });
  }
}

/** What comes after `--` is no flag, whatever it looks like. */
function flagsOf(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end === -1 ? argv : argv.slice(0, end);
}

/** The tree of commands; `setExitCode` is told how the one that runs ended. */
export function createProgram(
  setExitCode: (code: number) => void,
  surroundings: Surroundings = process,
): Command {
  const { stdout, stderr } = surroundings;
  const program = new Command('sallyport')
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .description('Log in, turn this machine into a bridge environment, run sessions on it.')
    .version(version, '-V, --version')
    .option('--json', 'one JSON document on stdout, or a JSON line per event')
    .option('--base-url <url>', `the gateway, over SALLYPORT_BASE_URL (default: ${defaultBaseUrl})`)
    .option('--profile <name>', 'the named set of settings to use, over SALLYPORT_PROFILE');
  examples(
    program,
    'sallyport login --device',
    "sallyport bridge run --exec 'my-agent --stdin'",
    'sallyport session run "fix the failing test"',
  );
  const act = createAct(setExitCode, surroundings);
  addLoginCommands(program, act);
  addBridgeCommands(program, act);
  addEnvCommands(program, act);
  addSessionCommands(program, act);
  addTelemetryCommands(program, act);
  addFeedbackCommands(program, act);
  addConfigCommands(program, act);
  addProfileCommands(program, act);
  addOrgCommands(program, act);
  addAccountCommands(program, act);
  addKeysCommands(program, act);
  addDeviceCommands(program, act);
  addAdminCommands(program, act);
  addApiCommands(program, act);
  addDoctorCommands(program, act);
  addCompletionCommands(program, act, surroundings);
  program.hook('preAction', (_program, command) => refuseEmptyOptions(command));
  finishHelp(program);
  return program;
}
