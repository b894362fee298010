import { reasonOf, ServiceError, TransportError, type Issue } from '@sallyport/core';
import type { SettingsFlags } from '../config/settings.ts';
import { CommandError, exitCodes, type ExitCode, type Failure } from './exit.ts';
import { loginAgain } from './login-again.ts';
import { printableLines } from './printable.ts';
import { adviceFor } from './service-advice.ts';
import { fromSystem, isSystemError } from './system-failure.ts';
import type { Terminal } from './terminal.ts';

/** How the command was run, which the next step is to fit. */
interface Asking {
  readonly env?: NodeJS.ProcessEnv;
  readonly flags?: SettingsFlags;
}

/** Tells the failure: a sentence and a next step on stderr, with `--json` also an `{error, ...}` document on stdout. */
export function reportFailure(error: unknown, terminal: Terminal, asking: Asking): ExitCode {
  const failure = toFailure(error, asking);
  const { code, message, exitCode, nextStep, details } = failure;
  tellFailure(failure, terminal);
  if (terminal.json) {
    terminal.result({
      json: { ...details, error: code, error_description: message, next_step: nextStep },
      human: '',
    });
  }
  if (given(asking.env?.['SALLYPORT_DEBUG']) && error instanceof Error)
    terminal.note(printableLines(error.stack ?? ''));
  return exitCode;
}

/** The sentence and the next step on stderr. */
export function tellFailure({ message, nextStep, exitCode }: Failure, terminal: Terminal): void {
  const text = printableLines([message, nextStep].filter((line) => line !== undefined).join('\n'));
  // Whoever leaves has made no error.
  const isLeaving = exitCode === exitCodes.interrupted || exitCode === exitCodes.readerGone;
  terminal.note(isLeaving ? text : `${terminal.style('red', 'error:', 'err')} ${text}`);
}

function given(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0';
}

/** Turns whatever was thrown into one sentence, a next step and an exit code; never a stack trace. */
export function toFailure(error: unknown, { env = {}, flags = {} }: Asking = {}): Failure {
  const failure = failureOf(error, env);
  const step = failure.nextStep?.replace('`sallyport login`', `\`${loginAgain(flags)}\``);
  return { ...failure, ...nextStep(step) };
}

function failureOf(error: unknown, env: NodeJS.ProcessEnv): Failure {
  if (error instanceof CommandError) {
    const details = { ...(error.cause instanceof ServiceError && detailsOf(error.cause)), ...error.details };
    return {
      code: error.code,
      message: error.message,
      exitCode: error.exitCode,
      ...nextStep(error.nextStep),
      ...(Object.keys(details).length > 0 && { details }),
    };
  }
  if (error instanceof TransportError) return fromTransport(error);
  if (error instanceof ServiceError) return fromService(error, env);
  // Of the platform (a `DOMException`) or of Node.js's streams.
  if (error instanceof Error && error.name === 'AbortError') return interrupted;
  if (isSystemError(error)) return fromSystem(error);
  // The domain libraries' errors carry a stable `code` and a sentence with the next step; an ERR_ of Node.js is a mistake here.
  if (error instanceof Error && 'code' in error && isCodeOfOurs(error.code)) {
    const { code } = error;
    const message = ended(reasonOf(error));
    return { code, message, exitCode: exitCodeOf(code), ...nextStep(localSteps[code]) };
  }
  return {
    code: 'internal_error',
    message: sentence(`Something unexpected went wrong: ${reasonOf(error)}`),
    exitCode: exitCodes.failed,
    nextStep: 'Run it again with SALLYPORT_DEBUG=1 to see where.',
  };
}

function isCodeOfOurs(code: unknown): code is string {
  return typeof code === 'string' && !code.startsWith('ERR_');
}

const interrupted: Failure = {
  code: 'interrupted',
  message: 'Interrupted.',
  exitCode: exitCodes.interrupted,
};

/** What the command line knows better than the libraries. */
const localSteps: Readonly<Record<string, string>> = {
  login_required: 'Run `sallyport login`.',
  keychain_failed:
    'To keep logins in files: `sallyport config set credential-store file`, then `sallyport login`.',
  issuer_mismatch:
    'Behind a gateway that only passes logins on, a key works: `sallyport keys create --base-url ADDRESS` where it is from, then SALLYPORT_TOKEN.',
  store_full: 'SALLYPORT_CONFIG_DIR names another folder for what is kept.',
  store_failed: 'SALLYPORT_CONFIG_DIR names another folder for what is kept.',
};

const exitCodesByCode: Readonly<Record<string, ExitCode>> = {
  login_required: exitCodes.notLoggedIn,
  other_organization: exitCodes.notLoggedIn,
  token_refused: exitCodes.notLoggedIn,
  denied: exitCodes.notLoggedIn,
  expired: exitCodes.notLoggedIn,
  state_mismatch: exitCodes.notLoggedIn,
  issuer_mismatch: exitCodes.notLoggedIn,
  no_organization: exitCodes.notLoggedIn,
  organization_required: exitCodes.usage,
  invalid_address: exitCodes.usage,
  insecure_address: exitCodes.usage,
  invalid_directory: exitCodes.usage,
  other_environment: exitCodes.notFound,
  conflict: exitCodes.conflict,
  timed_out: exitCodes.unreachable,
  aborted: exitCodes.interrupted,
};

function exitCodeOf(code: string): ExitCode {
  return exitCodesByCode[code] ?? exitCodes.failed;
}

function fromTransport(error: TransportError): Failure {
  if (error.code === 'aborted') {
    return interrupted;
  }
  if (error.code === 'unexpected_answer') return noGateway(error.code, reasonOf(error));
  if (error.code === 'insecure') {
    const message = sentence(reasonOf(error));
    return { code: error.code, message, exitCode: exitCodes.unreachable, nextStep: checkAddress };
  }
  return {
    code: error.code,
    message: sentence(reasonOf(error)),
    exitCode: exitCodes.unreachable,
    nextStep:
      'Is the gateway running? `npm start` runs one here; where yours is, say with `sallyport config set base-url URL`.',
  };
}

/** The next step where something else than a gateway answers. */
export const checkAddress =
  'Check the address: --base-url, SALLYPORT_BASE_URL, or `sallyport config set base-url URL`.';

function noGateway(code: string, what: string): Failure {
  return {
    code,
    message: `${sentence(what)} That is no Sallyport gateway, or something stands between.`,
    exitCode: exitCodes.unreachable,
    nextStep: checkAddress,
  };
}

function fromService(error: ServiceError, env: NodeJS.ProcessEnv): Failure {
  const said = error.message.trim() === '' ? error.code : error.message;
  const isNamed = ({ path, message }: Issue) =>
    [`${path}: `, `${path} `, `${path.replace(/^.*\//, '')} `].some((name) => said.includes(name + message));
  const unnamed = error.issues.filter((issue) => !isNamed(issue));
  const issues = unnamed.map(({ path, message }) => `${path}: ${message}`).join('; ');
  const message = sentence(issues === '' ? said : `${said.replace(/\.$/, '')} (${issues})`);
  const { code, status } = error;
  // Its body was none of the service's; a proxy whose gateway is away says so with 502 to 504.
  if (error.cause instanceof TransportError && status !== 429 && status < 502)
    return { ...noGateway(code, message), details: detailsOf(error) };
  return {
    code,
    message,
    details: detailsOf(error),
    nextStep: adviceFor(error, env),
    exitCode: exitCodeOfStatus(status),
  };
}

function exitCodeOfStatus(status: number): ExitCode {
  if (status === 401 || status === 403) return exitCodes.notLoggedIn;
  if (status === 404) return exitCodes.notFound;
  if (status === 409) return exitCodes.conflict;
  return status === 429 || status >= 502 ? exitCodes.unreachable : exitCodes.failed;
}

function detailsOf({ details, requestId }: ServiceError): Readonly<Record<string, unknown>> {
  return { ...details, ...(requestId && { request_id: requestId }) };
}

function sentence(text: string): string {
  // An address at the start stays as it is.
  const start = /^\w+:\/\//.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return ended(start);
}

function ended(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function nextStep(text: string | undefined): { nextStep?: string } {
  return text === undefined ? {} : { nextStep: text };
}
