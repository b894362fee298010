import { sleep } from '@sallyport/core';
import { Backoff } from './backoff.ts';
import type { Context } from './context.ts';
import { judgeFailure } from './failure.ts';

/** Calls again through outages, until an answer comes or `signal` aborts. Rejects with what no waiting cures. */
export async function persisting<T>(
  context: Context,
  signal: AbortSignal,
  call: () => Promise<T>,
): Promise<T> {
  const backoff = new Backoff(context);
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const verdict = judgeFailure(error);
      if (verdict.kind !== 'retry' || signal.aborted) throw error;
      await sleep(context.clock, backoff.next(verdict.retryAfterMs), signal);
    }
  }
}
