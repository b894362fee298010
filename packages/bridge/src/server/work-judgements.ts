import { ServiceError } from '@sallyport/core';
import type { EventDraft, Work } from './records.ts';
import { mostLogBytes } from './quota.ts';
import { isFinal } from './states.ts';
import { advance, type Circumstances, type Verdict } from './verdict.ts';

/** A poll takes the item; lost work of an environment that polls again thereby starts its next attempt. */
export function judgeDelivery(work: Work, given: Circumstances): Verdict | undefined {
  return advance(work, 'deliver', given);
}

/** The answer never reached its caller: undone, unless the item was delivered once more since. */
export function judgeReturn(work: Work, delivery: number, given: Circumstances): Verdict | undefined {
  return work.deliveries === delivery ? advance(work, 'return', given) : undefined;
}

/** The first acknowledgement of an attempt wins, one of an earlier delivery included; every later one is a conflict. */
export function judgeAck(work: Work, workerKey: string, given: Circumstances): Verdict {
  const verdict = advance(work, 'ack', { ...given, ackedBy: workerKey });
  if (verdict) return verdict;
  if (work.state === 'stopped' && work.ackedBy === null)
    throw new ServiceError('work_stopped', 'The work was stopped before it was acknowledged.');
  throw new ServiceError('ack_already_processed', 'The work was acknowledged before.', {
    details: { acked_by: work.ackedBy, yours: work.ackedBy === workerKey, state: work.state },
  });
}

/** `isWorker`: the one who asks proved to be the present worker, so this confirms the end. */
export function judgeStop(
  work: Work,
  {
    force,
    isWorker,
    reason,
  }: { readonly force: boolean; readonly isWorker: boolean; readonly reason?: string | undefined },
  given: Circumstances,
): Verdict | undefined {
  return advance(work, 'stop', { ...given, isWorker, isForced: force, stopReason: reason });
}

/** How many of a worker's events may be new: its `worker.exited` is the last one of a session. */
export function judgeAppend(work: Work, events: readonly EventDraft[]): number {
  if (isFinal(work.state)) return 0;
  const exit = events.findIndex(({ type }) => type === 'worker.exited');
  return exit === -1 ? events.length : exit + 1;
}

/** `worker.exited` of the present worker; without an exit code, a signal ended it. */
export function judgeExit(work: Work, exitCode: unknown, given: Circumstances): Verdict | undefined {
  return advance(work, 'exit', { ...given, exitCode: typeof exitCode === 'number' ? exitCode : null });
}

/** Its worker reports on and on, and takes nothing: the log, which may lose nothing of that, would have no bound. */
export function judgeOverflow(work: Work, logBytes: number, given: Circumstances): Verdict | undefined {
  if (logBytes <= mostLogBytes(given.terms.maxSessionLogBytes)) return undefined;
  return advance(work, 'overflow', given);
}

/** The worker's stream opens: lost work is running again, if nobody has taken it. */
export function judgeAttach(work: Work, given: Circumstances): Verdict | undefined {
  return advance(work, 'attach', given);
}

/** The deadline of the item's state went by. */
export function judgeLapse(work: Work, isOnline: boolean, given: Circumstances): Verdict | undefined {
  if (work.deadline === null || work.deadline > given.now) return undefined;
  return advance(work, 'lapse', { ...given, isOnline });
}

/**
 * A bridge is back after a disconnect: the work of a worker that is gone begins its next attempt at once. The proven present
 * worker keeps what it has; what waits, or is to end, stays as it is.
 */
export function judgeReconnect(
  work: Work,
  worker: { readonly seenAt: number | null; readonly isProven: boolean },
  given: Circumstances,
): Verdict | undefined {
  judgeOpen(work);
  if (worker.isProven) return undefined;
  const liveForMs = worker.seenAt === null ? 0 : worker.seenAt + given.terms.liveMs - given.now;
  if (liveForMs > 0)
    throw new ServiceError('session_active', 'A live worker holds the session: try again when it is gone.', {
      details: { session_id: work.sessionId, retry_after_ms: liveForMs },
    });
  return advance(work, 'reconnect', given);
}

/** The epoch of who takes the session over: its own, for the proven present worker; else the next. */
export function judgeTakeOver(work: Work, epoch: number, provenEpoch: number | null): number {
  judgeOpen(work);
  return provenEpoch === epoch ? epoch : epoch + 1;
}

/** A session that has ended takes nothing more. */
export function judgeOpen({ state }: Pick<Work, 'state'>): void {
  if (isFinal(state)) throw new ServiceError('session_ended', 'The session has ended.');
}

/** Only the newest worker of a session may write. */
export function judgeEpoch(current: number, epoch: number): void {
  if (epoch !== current)
    throw new ServiceError('stale_epoch', 'Another worker has taken the session over.', {
      details: { worker_epoch: current },
    });
}
