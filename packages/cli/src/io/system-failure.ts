import { isDiskFull, whyNotWritten } from '@sallyport/core';
import { exitCodes } from './exit.ts';
import type { Failure } from './failure.ts';

/** Whether it is the operating system's refusal, as Node.js throws it. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { readonly code: string } {
  return error instanceof Error && 'code' in error && /^E[A-Z0-9]+$/.test(String(error.code));
}

/** A file that cannot be read or written, in words; the commands' own files have their place in one folder. */
export function fromSystem(error: NodeJS.ErrnoException & { readonly code: string }): Failure {
  const { code, path } = error;
  const why = whyNotWritten(error);
  const mend = isDiskFull(error) ? 'Make room on that disk' : 'Mend the file or its permissions';
  return {
    code,
    message: path === undefined ? `The system refuses: ${why}.` : `${path} cannot be used: ${why}.`,
    exitCode: exitCodes.failed,
    nextStep: `${mend}; SALLYPORT_CONFIG_DIR names another folder for what is kept.`,
  };
}
