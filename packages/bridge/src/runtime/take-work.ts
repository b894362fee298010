import { ServiceError } from '@sallyport/core';
import { acknowledgeDelivery } from './ack.ts';
import type { Context } from './context.ts';
import type { Sessions, Work } from './sessions.ts';

export interface TakeWorkOptions {
  readonly context: Context;
  readonly environmentId: string;
  readonly sessions: Sessions;
  /** The bridge takes no more work. */
  readonly stopping: AbortSignal;
  /** Ends the call. */
  readonly signal: AbortSignal;
}

/** Acknowledges granted work and has it run. Gives whether it runs, or why it does not: `stopping`, or in words. */
export async function takeWork(
  work: Work,
  { context, environmentId, sessions, stopping, signal }: TakeWorkOptions,
): Promise<'runs' | 'stopping' | { readonly skipped: string }> {
  sessions.intend(work, environmentId);
  const holder = await acknowledgeDelivery(context, environmentId, work.id, { stopping, signal }).catch(
    (error: unknown) => {
      // Without an answer it may be ours: the next start sees to it.
      if (error instanceof ServiceError) sessions.forgo(work);
      throw error;
    },
  );
  if (holder === 'ours' && stopping.aborted) {
    await sessions.abandon(work, environmentId);
    return 'stopping';
  }
  if (holder === 'ours') {
    sessions.start(work, environmentId);
    return 'runs';
  }
  sessions.forgo(work);
  return { skipped: holder === 'theirs' ? 'another worker has it' : 'it is over' };
}
