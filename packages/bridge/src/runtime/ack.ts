import { ServiceError, sleep } from '@sallyport/core';
import type { CallOptions } from '@sallyport/core/client';
import { finalWorkStates } from '@sallyport/core/contract';
import type { Context } from './context.ts';
import { Backoff } from './backoff.ts';
import { judgeFailure } from './failure.ts';

/** Who has a work item, after we acknowledged it. `gone`: it was stopped, has ended, or never was. */
export type Holder = 'ours' | 'theirs' | 'gone';

/** An unacknowledged item is delivered again, so there is no use in trying for longer. */
const ackPatienceMs = 30_000;
const ackTimeoutMs = 10_000;

/** Acknowledges once. `isRepeated`: an earlier try of ours may have arrived although its answer did not. */
export async function acknowledge(
  { client, workerId }: Context,
  environmentId: string,
  workId: string,
  { isRepeated = false, ...call }: CallOptions & { readonly isRepeated?: boolean } = {},
): Promise<Holder> {
  try {
    const params = { env_id: environmentId, work_id: workId };
    await client.bridge.ack({ headers: { 'vendor-worker-id': workerId }, params, ...call });
    return 'ours';
  } catch (error) {
    const verdict = judgeFailure(error);
    if (verdict.kind === 'missing') return 'gone';
    if (verdict.kind !== 'conflict') throw error;
    const hasEnded = finalWorkStates.some((state) => state === verdict.details['state']);
    if (verdict.code === 'work_stopped' || hasEnded) return 'gone';
    const { yours = isRepeated } = verdict.details;
    return yours === true ? 'ours' : 'theirs';
  }
}

/**
 * Acknowledges a delivery, through an outage: for as long as no answer comes, because a lost answer may have been "ours",
 * but for 30 s at most where the service answers that it cannot. Anything else is thrown: the item is not to be run.
 * After `stopping` nothing is waited for; only a lost answer is asked for once more. `signal` ends that, too.
 */
export async function acknowledgeDelivery(
  context: Context,
  environmentId: string,
  workId: string,
  { stopping, signal }: { readonly stopping: AbortSignal; readonly signal: AbortSignal },
): Promise<Holder> {
  const backoff = new Backoff(context);
  const until = context.clock.monotonic() + ackPatienceMs;
  for (let attempt = 0; ; attempt += 1) {
    const isLast = stopping.aborted;
    try {
      const isRepeated = attempt > 0;
      return await acknowledge(context, environmentId, workId, {
        isRepeated,
        signal,
        timeoutMs: ackTimeoutMs,
      });
    } catch (error) {
      const verdict = judgeFailure(error);
      if (verdict.kind !== 'retry' || signal.aborted || isLast) throw error;
      const waitMs = backoff.next(verdict.retryAfterMs);
      const isAnswered = error instanceof ServiceError;
      if (isAnswered && context.clock.monotonic() + waitMs > until) throw error;
      const isCut = await sleep(context.clock, waitMs, stopping).then(
        () => false,
        () => true,
      );
      if (isAnswered && isCut) throw error; // it was not taken, so it is offered again
    }
  }
}
