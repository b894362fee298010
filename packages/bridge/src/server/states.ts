import type { SessionStatus, WorkState } from '@sallyport/core/contract';
import { stopDeadlineMs } from '../protocol/events.ts';
import type { WorkTerms } from './config.ts';
import type { Json, Work } from './records.ts';

/** What can happen to a work item. */
export type WorkEvent =
  /** A poll takes it. */
  | 'deliver'
  /** The poll's caller went away before it had the answer. */
  | 'return'
  /** Nobody acknowledged in time: it may be delivered again, or was often enough. */
  | 'redeliver'
  | 'bury'
  | 'ack'
  /** The worker's stream opens. */
  | 'attach'
  /** The process ended: with 0, or otherwise. */
  | 'finish'
  | 'fail'
  /** A graceful stop, a forced one, and one that the worker itself confirms or fails to confirm in time. */
  | 'stop'
  | 'force'
  | 'confirm'
  | 'abandon'
  /** The worker is lost: nobody is there to take over, a new attempt is made, or there were enough. */
  | 'lose'
  | 'requeue'
  | 'give_up';

/** Where an event leads, and what else it does. */
export interface Move {
  readonly to: WorkState;
  /** What the new deadline is; none where it is left out. */
  readonly deadline?: 'ackMs' | 'firstAttachMs' | 'leaseMs' | 'stopMs';
  /** Fences the present worker: whatever it still sends is refused. */
  readonly raisesEpoch?: true;
  readonly deliveries?: 1 | -1;
  /** A new attempt: deliveries, acknowledgement and stream are those of the last one no more. */
  readonly newAttempt?: true;
  readonly attaches?: true;
  /** Sends `control.stop` to the worker. */
  readonly asksWorker?: true;
  readonly reason?: string;
}

const exits = { finish: { to: 'done' }, fail: { to: 'failed' } } as const;
const forced = { force: { to: 'stopped', raisesEpoch: true }, confirm: { to: 'stopped' } } as const;
const unstarted = {
  ack: { to: 'active', deadline: 'firstAttachMs' },
  stop: { to: 'stopped', raisesEpoch: true },
  ...forced,
  ...exits,
} as const;

/** The life of a work item. What a state does not list leaves it as it is. */
export const workMoves: Readonly<Record<WorkState, Readonly<Partial<Record<WorkEvent, Move>>>>> = {
  queued: {
    deliver: { to: 'delivered', deadline: 'ackMs', deliveries: 1 },
    ...unstarted,
  },
  delivered: {
    return: { to: 'queued', deliveries: -1 },
    redeliver: { to: 'queued' },
    bury: { to: 'dead', reason: 'undeliverable' },
    ...unstarted,
  },
  active: {
    attach: { to: 'active', deadline: 'leaseMs', attaches: true },
    stop: { to: 'stopping', deadline: 'stopMs', asksWorker: true },
    lose: { to: 'lost', reason: 'worker_lost' },
    requeue: { to: 'queued', raisesEpoch: true, newAttempt: true, reason: 'worker_lost' },
    give_up: { to: 'failed', raisesEpoch: true, reason: 'worker_lost' },
    ...forced,
    ...exits,
  },
  stopping: {
    finish: { to: 'stopped' },
    fail: { to: 'stopped' },
    abandon: { to: 'stopped', raisesEpoch: true, reason: 'worker_lost' },
    ...forced,
  },
  lost: {
    attach: { to: 'active', deadline: 'leaseMs', attaches: true },
    requeue: { to: 'queued', raisesEpoch: true, newAttempt: true, reason: 'worker_lost' },
    stop: { to: 'stopped', raisesEpoch: true, reason: 'worker_lost' },
    ...forced,
    ...exits,
  },
  stopped: {},
  done: {},
  failed: {},
  dead: {},
};

export function isFinal(state: WorkState): boolean {
  return Object.keys(workMoves[state]).length === 0;
}

/** The session's status, from its work's state and from whether its environment was seen of late: the one place. */
export function sessionStatus(state: WorkState, isOnline = true): SessionStatus {
  if (state === 'active') return isOnline ? 'running' : 'disconnected';
  return statusOfState[state];
}

const statusOfState: Readonly<Record<Exclude<WorkState, 'active'>, SessionStatus>> = {
  queued: 'queued',
  delivered: 'queued',
  stopping: 'stopping',
  stopped: 'stopped',
  done: 'done',
  failed: 'failed',
  lost: 'disconnected',
  dead: 'failed',
};

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

export interface Circumstances {
  readonly now: number;
  readonly terms: WorkTerms;
  readonly ackedBy?: string;
  readonly exitCode?: number | null;
}

/** Applies one event to a work item; undefined where it changes nothing. */
export function advance(work: Work, event: WorkEvent, given: Circumstances): Verdict | undefined {
  const move = workMoves[work.state][event];
  if (move === undefined) return undefined;
  const next: Work = {
    ...work,
    state: move.to,
    deadline: move.deadline === undefined ? null : given.now + given.terms[move.deadline],
    deliveries: move.newAttempt ? 0 : work.deliveries + (move.deliveries ?? 0),
    attempt: work.attempt + (move.newAttempt ? 1 : 0),
    ackedBy: move.newAttempt ? null : (given.ackedBy ?? work.ackedBy),
    attached: move.newAttempt ? false : (move.attaches ?? work.attached),
    reason: move.reason ?? null,
  };
  return {
    work: next,
    raisesEpoch: move.raisesEpoch ?? false,
    announcements: announce(work, next, move, given),
  };
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
