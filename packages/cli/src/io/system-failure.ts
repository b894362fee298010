import { isDiskFull, whyNotWritten } from '@sallyport/core';
import { exitCodes, type Failure } from './exit.ts';

type SystemError = NodeJS.ErrnoException & { readonly code: string };

/** Whether it is the operating system's refusal, as Node.js throws it. */
export function isSystemError(error: unknown): error is SystemError {
  // Not `ERR_INVALID_ARG_TYPE` and the like, which are Node.js's own.
  return error instanceof Error && 'code' in error && /^E(?!RR_)[A-Z0-9_]+$/.test(String(error.code));
}

/** What the system refuses, in words; the commands' own files have their place in one folder. */
export function fromSystem(error: SystemError): Failure {
  const { code, path, syscall = '' } = error;
  const failed = { code, exitCode: exitCodes.failed };
  if (syscall.startsWith('spawn')) return { ...failed, ...ofCommand(error) };
  const why = whyNotWritten(error);
  if (path !== undefined) {
    const mend = isDiskFull(error) ? 'Make room on that disk' : 'Mend the file or its permissions';
    const nextStep = `${mend}; SALLYPORT_CONFIG_DIR names another folder for what is kept.`;
    return { ...failed, message: `${path} cannot be used: ${why}.`, nextStep };
  }
  if (isDiskFull(error)) return { ...failed, message: 'The disk is full.', nextStep: 'Make room on it.' };
  if (ofNetwork.test(code))
    return {
      code,
      message: `The network fails: ${why}.`,
      exitCode: exitCodes.unreachable,
      nextStep: 'Try again; `sallyport doctor` looks at the way to the gateway.',
    };
  const nextStep = 'Run it again with SALLYPORT_DEBUG=1 to see where.';
  return { ...failed, message: `The system refuses: ${why}.`, nextStep };
}

const ofNetwork = /^E(CONN|HOST|NET|PIPE|ADDR|TIMEDOUT|NOTFOUND|AI_)/;

/** A program that does not start; `path` is its name. */
function ofCommand(error: SystemError): Pick<Failure, 'message' | 'nextStep'> {
  const { path = 'The command', code } = error;
  if (code === 'ENOENT')
    return {
      message: `${path} cannot be started: there is no such command.`,
      nextStep: 'Install it, or put its folder on the PATH.',
    };
  return {
    message: `${path} cannot be started: ${whyNotWritten(error)}.`,
    nextStep: 'Mend the file or its permissions.',
  };
}
