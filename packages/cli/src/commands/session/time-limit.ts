import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';

export interface TimeLimit {
  readonly limitMs: number | undefined;
  readonly signal: AbortSignal;
  /** What can be done once it is over. */
  readonly nextStep: () => string;
  /** What has not ended, in a sentence; `within` is such as `within 30 s`. */
  readonly message?: (within: string) => string;
}

/** Gives `act` a signal that aborts with `signal`, and after `limitMs` where there is such a limit: then it throws `timed_out`. */
export async function withinLimit<T>(
  { clock }: Pick<Context, 'clock'>,
  { limitMs, signal, nextStep, message = itGoesOn }: TimeLimit,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (limitMs === undefined) return act(signal);
  const limit = new AbortController();
  const timer = clock.after(limitMs, () => limit.abort(), { keepAlive: true });
  try {
    return await act(AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    if (!limit.signal.aborted || signal.aborted) throw error;
    throw new CommandError(
      'timed_out',
      message(`within ${limitMs / 1000} s`),
      exitCodes.unreachable,
      nextStep(),
      { cause: error },
    );
  } finally {
    timer.cancel();
  }
}

function itGoesOn(within: string): string {
  return `It has not ended ${within}, and goes on.`;
}
