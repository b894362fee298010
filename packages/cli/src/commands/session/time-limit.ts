import type { Context } from '../../context.ts';
import { CommandError, exitCodes } from '../../io/exit.ts';

/**
 * Gives `act` a signal that aborts with `signal`, and after `limitMs` where there is such a limit: then it throws
 * `timed_out`, with what can be done next.
 */
export async function withinLimit<T>(
  { clock }: Pick<Context, 'clock'>,
  {
    limitMs,
    signal,
    nextStep,
  }: { readonly limitMs: number | undefined; readonly signal: AbortSignal; readonly nextStep: string },
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
      `It has not ended within ${limitMs / 1000} s, and goes on.`,
      exitCodes.unreachable,
      nextStep,
      { cause: error },
    );
  } finally {
    timer.cancel();
  }
}
