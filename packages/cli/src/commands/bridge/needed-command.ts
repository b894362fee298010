import { CommandError, exitCodes } from '../../io/exit.ts';

/** The command that sessions run; there is no default for it. */
export function neededCommand(exec: string | undefined, command: string): string {
  if (exec !== undefined && exec.trim() !== '') return exec;
  throw new CommandError(
    'no_command',
    'What should a session run?',
    exitCodes.usage,
    `Say it with --exec: ${command} --exec 'CMD'. CMD gets the session's events as NDJSON on stdin.`,
  );
}
