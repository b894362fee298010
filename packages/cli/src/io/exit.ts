/** The exit codes of the command line; scripts rely on them (`docs/exit-codes.md` has them for users). */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  notLoggedIn: 3,
  notFound: 4,
  conflict: 5,
  unreachable: 6,
  interrupted: 130,
  readerGone: 141,
} as const;

/** Each in words, for the help and the page. */
export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: 'done',
  failed: 'failed',
  usage: 'wrong usage',
  notLoggedIn: 'not logged in or refused',
  notFound: 'not found',
  conflict: 'conflict',
  unreachable: 'unreachable or timed out',
  interrupted: 'interrupted',
  readerGone: 'nobody reads on',
};

/** Those that the same command ends with again until a person has done something: nothing is to start it anew. */
export const lastingExitCodes = [
  exitCodes.usage,
  exitCodes.notLoggedIn,
  exitCodes.notFound,
  exitCodes.conflict,
] as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export interface CommandErrorOptions extends ErrorOptions {
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Ends a command with a sentence for the person, a next step, and an exit code. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: string;
  readonly exitCode: ExitCode;
  /** What to do now, as a sentence or a command; `undefined`: nothing, as it is what the person wanted. */
  readonly nextStep: string | undefined;
  /** What a script is told besides. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: string,
    message: string,
    exitCode: ExitCode,
    nextStep: string | undefined,
    { details = {}, ...options }: CommandErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.exitCode = exitCode;
    this.nextStep = nextStep;
    this.details = details;
  }
}

/** A failure as the person and the script are told it. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
  readonly nextStep?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}
