/** The exit codes of the command line; scripts rely on them (`packages/cli/README.md` lists them for users). */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notLoggedIn: 3,
  notFound: 4,
  conflict: 5,
  unreachable: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command with a sentence for the person, a next step, and an exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: string;
  readonly exitCode: ExitCode;
  /** What to do now, as a sentence or a command. */
  readonly nextStep: string | undefined;

  constructor(code: string, message: string, exitCode: ExitCode, nextStep?: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.exitCode = exitCode;
    this.nextStep = nextStep;
  }
}
