import { isDiskFull, reasonOf, ServiceError, whyNotWritten } from '@sallyport/core';
import { ConfigError } from '../config/config-error.ts';
import { StoreError } from '../store/embedded/store-error.ts';

/** A failure as the person at the command line sees it: one sentence that says what to do next. */
export interface Failure {
  readonly message: string;
  readonly exitCode: 1 | 2 | 130;
}

/** Says all there is to say, and what to do next. */
export class ExplainedError extends Error {
  override readonly name = 'ExplainedError';
}

/** A person has left a question. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}

/** Never a stack trace; `SALLYPORT_LOG_LEVEL=debug` has what is behind an unforeseen one. */
export function describeFailure(error: unknown, env = process.env): Failure {
  if (error instanceof InterruptedError) return { message: error.message, exitCode: 130 };
  if (error instanceof ConfigError) return { message: error.message, exitCode: 2 };
  if (error instanceof ServiceError && error.code === 'store_unavailable')
    return {
      message: `${error.message} See to its disk (room, and the right to write), and try again.`,
      exitCode: 1,
    };
  // Here what was asked for is what the command line said.
  if (error instanceof ServiceError && /^invalid_(request|scope)$/.test(error.code))
    return { message: error.message, exitCode: 2 };
  if (error instanceof StoreError || error instanceof ServiceError || error instanceof ExplainedError)
    return { message: error.message, exitCode: 1 };
  const { code, syscall, path, port, address } = ofSystem(error);
  if (syscall === 'listen' || syscall === 'getaddrinfo')
    return { message: listening(code, address, port), exitCode: 1 };
  if (code !== undefined && path !== undefined)
    return {
      message: `${path} cannot be used: ${whyNotWritten(error)}. ${mend(error, code)}, or choose another directory with --data-dir.`,
      exitCode: 1,
    };
  const detail =
    env['SALLYPORT_LOG_LEVEL'] === 'debug' && error instanceof Error ? `\n${error.stack ?? ''}` : '';
  return {
    message: `${reasonOf(error).replace(/[.!?]?$/, (end) => end || '.')} Run with SALLYPORT_LOG_LEVEL=debug for more.${detail}`,
    exitCode: 1,
  };
}

function mend(error: unknown, code: string): string {
  if (isDiskFull(error)) return 'Make room on that disk';
  return code === 'ENOENT' ? 'Mend the path' : 'Make it writable for this user';
}

/** What Node.js says of the system's refusal; nothing of what is none. */
function ofSystem(error: unknown): Partial<NodeJS.ErrnoException & { port: number; address: string }> {
  return error instanceof Error ? error : {};
}

function listening(code = 'unknown', address = 'the host', port?: number): string {
  const where = port === undefined ? address : `${address}:${port}`;
  if (code === 'EADDRINUSE')
    return `${where} is in use by another program: stop it, or choose another port with --port (0 picks a free one).`;
  if (code === 'EACCES')
    return `${where} may not be listened on by this user: choose a port above 1023 with --port.`;
  return `${where} cannot be listened on (${code}): choose an address of this machine with --host.`;
}
