import { CommandError } from './exit.ts';
import { toFailure } from './failure.ts';

/** Waits for a call; a failure with one of these codes gets the next step that only the command can know. */
export async function advising<T>(call: Promise<T>, nextSteps: Readonly<Record<string, string>>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const { code, message, exitCode } = toFailure(error);
    const nextStep = nextSteps[code];
    if (nextStep === undefined) throw error;
    throw new CommandError(code, message, exitCode, nextStep, { cause: error });
  }
}
