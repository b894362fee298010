import type { Context } from './context.ts';
import { judgeFailure } from './failure.ts';
import type { Pause } from './pause.ts';

/** Waits for `ms` after a failure; where the login had ended, only until there is another one. */
export async function pauseAfter(
  { clientOptions }: Context,
  pause: Pause,
  error: unknown,
  ms: number,
): Promise<void> {
  const { tokens } = clientOptions;
  if (judgeFailure(error).kind !== 'login_required' || !tokens?.changed) return pause.for(ms);
  const over = new AbortController();
  const cut = () => {
    if (!over.signal.aborted) pause.cut();
  };
  tokens.changed(over.signal).then(cut, () => undefined); // unable to watch, it waits
  try {
    await pause.for(ms);
  } finally {
    over.abort();
  }
}
