import { stopDeadlineMs } from '../protocol/events.ts';
import type { Json, Work } from './records.ts';
import {
  conditions,
  sessionStatus,
  workStates,
  type Condition,
  type Facts,
  type Happening,
  type Move,
} from './states.ts';

/** An event of the service's own for the session's log. */
export interface Announcement {
  readonly type: 'control.stop' | 'session.updated';
  readonly data: Json;
}

/** What a judgement decided: the item as it is to be saved, and what goes with it in the same transaction. */
export interface Verdict {
  readonly work: Work;
  readonly raisesEpoch: boolean;
  readonly announcements: readonly Announcement[];
}

export interface Circumstances extends Facts {
  readonly now: number;
  /** Who acknowledges it. */
  readonly ackedBy?: string;
  /** What whoever stops it says of the cause. */
  readonly stopReason?: string | undefined;
}

/** Moves a work item on; undefined where what happened changes nothing. */
export function advance(work: Work, on: Happening, given: Circumstances): Verdict | undefined {
  const move = workStates[work.state].moves.find((each) => each.on === on && mayBeMade(each, work, given));
  if (move === undefined) return undefined;
  const next: Work = {
    ...work,
    state: move.to,
    deadline: move.deadline === undefined ? null : given.now + given.terms[move.deadline],
    deliveries: (move.newAttempt ? 0 : work.deliveries) + (move.deliveries ?? 0),
    attempt: work.attempt + (move.newAttempt ? 1 : 0),
    ackedBy: move.newAttempt ? null : (given.ackedBy ?? work.ackedBy),
    attached: move.newAttempt ? false : (move.attaches ?? work.attached),
    reason: reasonOf(move, work, given),
  };
  return {
    work: next,
    raisesEpoch: move.raisesEpoch ?? false,
    announcements: announce(work, next, move, given),
  };
}

function reasonOf({ reason }: Move, work: Work, { stopReason }: Circumstances): string | null {
  // One that is stopped again without a word ends for what was said first.
  if (reason === 'given') return stopReason ?? (work.state === 'stopping' ? work.reason : null);
  return reason === 'kept' ? work.reason : (reason ?? null);
}

function mayBeMade({ when }: Move, work: Work, given: Circumstances): boolean {
  const condition: Condition | undefined = when && conditions[when];
  return condition === undefined || condition.holds(work, given);
}

function announce(before: Work, after: Work, move: Move, given: Circumstances): Announcement[] {
  const announcements: Announcement[] = [];
  if (move.asksWorker)
    announcements.push({ type: 'control.stop', data: { force: false, deadline_ms: stopDeadlineMs } });
  const status = sessionStatus(after.state);
  if (status !== sessionStatus(before.state)) {
    const data = {
      status,
      ...(after.reason !== null && { reason: after.reason }),
      ...(typeof given.exitCode === 'number' && { exit_code: given.exitCode }),
    };
    announcements.push({ type: 'session.updated', data });
  }
  return announcements;
}
