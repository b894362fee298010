import { ServiceError } from '@sallyport/core';
import type { Work } from './records.ts';
import { advance, isFinal, type Circumstances, type Verdict } from './states.ts';

/** A poll takes the item. Lost work of an environment that polls again starts its next attempt first. */
export function judgeDelivery(work: Work, given: Circumstances): Verdict | undefined {
  const requeued = work.state === 'lost' ? advance(work, 'requeue', given) : undefined;
  const delivered = advance(requeued?.work ?? work, 'deliver', given);
  if (requeued === undefined || delivered === undefined) return delivered;
  return {
    work: delivered.work,
    raisesEpoch: requeued.raisesEpoch || delivered.raisesEpoch,
    announcements: [...requeued.announcements, ...delivered.announcements],
  };
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
  { force, isWorker }: { readonly force: boolean; readonly isWorker: boolean },
  given: Circumstances,
): Verdict | undefined {
  return advance(work, isWorker ? 'confirm' : force ? 'force' : 'stop', given);
}

/** `worker.exited` of the present worker; without an exit code, a signal ended it. */
export function judgeExit(work: Work, exitCode: unknown, given: Circumstances): Verdict | undefined {
  const code = typeof exitCode === 'number' ? exitCode : null;
  return advance(work, code === 0 ? 'finish' : 'fail', { ...given, exitCode: code });
}

/** The worker's stream opens: lost work is running again, if nobody has taken it. */
export function judgeAttach(work: Work, given: Circumstances): Verdict | undefined {
  return advance(work, 'attach', given);
}

/** The deadline of the item's state went by. */
export function judgeLapse(work: Work, isOnline: boolean, given: Circumstances): Verdict | undefined {
  if (work.deadline === null || work.deadline > given.now) return undefined;
  const { maxDeliveries, maxAttempts } = given.terms;
  if (work.state === 'delivered')
    return advance(work, work.deliveries >= maxDeliveries ? 'bury' : 'redeliver', given);
  if (work.state === 'stopping') return advance(work, 'abandon', given);
  if (work.attempt >= maxAttempts) return advance(work, 'give_up', given);
  return advance(work, isOnline ? 'requeue' : 'lose', given);
}

/** The epoch of who takes the session over: its own, for the proven present worker; else the next. */
export function judgeTakeOver(work: Work, epoch: number, provenEpoch: number | null): number {
  if (isFinal(work.state)) throw new ServiceError('session_ended', 'The session has ended.');
  return provenEpoch === epoch ? epoch : epoch + 1;
}

/** Only the newest worker of a session may write. */
export function judgeEpoch(current: number, epoch: number): void {
  if (epoch !== current)
    throw new ServiceError('stale_epoch', 'Another worker has taken the session over.', {
      details: { worker_epoch: current },
    });
}
