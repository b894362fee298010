import type { SessionStatus, WorkState } from '@sallyport/core/contract';
import type { WorkTerms } from './config.ts';
import type { Work } from './records.ts';

// The one list of states: which there are, what moves a work item from one to the next, and under which condition. The
// judgements and the stores' queries read it, and `docs/states.md` is generated from it.

/** What can happen to a work item. */
export const happenings = {
  deliver: 'a poll takes it',
  return: 'the poll went away before it had the answer',
  ack: 'it is acknowledged',
  attach: "the worker's stream opens",
  exit: 'the worker reports worker.exited',
  overflow: 'its log is full of what the worker does not acknowledge',
  stop: 'it is stopped',
  lapse: 'its deadline goes by',
  reconnect: 'its bridge reconnects, and no live worker holds it',
} as const;
export type Happening = keyof typeof happenings;

/** What a move may depend on; what is left out does not hold. */
export interface Facts {
  readonly terms: WorkTerms;
  /** The exit code; null where a signal ended the process. */
  readonly exitCode?: number | null;
  readonly isForced?: boolean;
  /** Who stops it proved to be its present worker. */
  readonly isWorker?: boolean;
  /** Its environment was seen of late. */
  readonly isOnline?: boolean;
}

/** The conditions of moves. */
export const conditions = {
  cleanExit: { text: 'with 0', holds: (_, { exitCode }) => exitCode === 0 },
  byWorker: { text: 'by its worker', holds: (_, { isWorker }) => isWorker === true },
  byForce: { text: 'by force', holds: (_, { isForced }) => isForced === true },
  lastDelivery: {
    text: 'after the last delivery',
    holds: ({ deliveries }, { terms }) => deliveries >= terms.maxDeliveries,
  },
  lastAttempt: {
    text: 'in the last attempt',
    holds: ({ attempt }, { terms }) => attempt >= terms.maxAttempts,
  },
  online: { text: 'while its environment is online', holds: (_, { isOnline }) => isOnline === true },
} as const satisfies Record<string, Condition>;

export interface Condition {
  readonly text: string;
  readonly holds: (work: Work, facts: Facts) => boolean;
}

/** Where a happening leads, and what else it does. */
export interface Move {
  readonly on: Happening;
  /** Needed for this move; of the moves of one state for one happening, the first that may be made is made. */
  readonly when?: keyof typeof conditions;
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
  /** `given`: what the stop says, if anything; `kept`: what an earlier one said. */
  readonly reason?: 'worker_lost' | 'undeliverable' | 'log_full' | 'given' | 'kept';
}

export interface State {
  /** What the session of such an item is, and what it is while the environment is silent, where that differs. */
  readonly session: SessionStatus;
  readonly silentSession?: SessionStatus;
  /** Counted among what runs in the environment; its deadline is a lease. */
  readonly isRunning?: true;
  /** None: the state is final. What they do not list leaves the item as it is. */
  readonly moves: readonly Move[];
}

const lost = { raisesEpoch: true, reason: 'worker_lost' } as const;
const again = { ...lost, newAttempt: true } as const;
const exits = [
  { on: 'exit', when: 'cleanExit', to: 'done' },
  { on: 'exit', to: 'failed' },
  { on: 'overflow', to: 'failed', raisesEpoch: true, reason: 'log_full' },
] as const;
const confirmed = { on: 'stop', when: 'byWorker', to: 'stopped', reason: 'given' } as const;
const forced = {
  on: 'stop',
  when: 'byForce',
  to: 'stopped',
  raisesEpoch: true,
  reason: 'given',
} as const;
const unstarted = [
  // Late, of an earlier delivery, it counts as well.
  { on: 'ack', to: 'active', deadline: 'firstAttachMs' },
  confirmed,
  { on: 'stop', to: 'stopped', raisesEpoch: true, reason: 'given' },
  ...exits,
] as const;

export const workStates: Readonly<Record<WorkState, State>> = {
  queued: {
    session: 'queued',
    moves: [{ on: 'deliver', to: 'delivered', deadline: 'ackMs', deliveries: 1 }, ...unstarted],
  },
  delivered: {
    session: 'queued',
    moves: [
      { on: 'return', to: 'queued', deliveries: -1 },
      { on: 'lapse', when: 'lastDelivery', to: 'dead', reason: 'undeliverable' },
      { on: 'lapse', to: 'queued' },
      ...unstarted,
    ],
  },
  active: {
    session: 'running',
    silentSession: 'disconnected',
    isRunning: true,
    moves: [
      { on: 'attach', to: 'active', deadline: 'leaseMs', attaches: true },
      { on: 'lapse', when: 'lastAttempt', to: 'failed', ...lost },
      { on: 'lapse', when: 'online', to: 'queued', ...again },
      { on: 'lapse', to: 'lost', reason: 'worker_lost' },
      { on: 'reconnect', when: 'lastAttempt', to: 'failed', ...lost },
      { on: 'reconnect', to: 'queued', ...again },
      confirmed,
      forced,
      { on: 'stop', to: 'stopping', deadline: 'stopMs', asksWorker: true, reason: 'given' },
      ...exits,
    ],
  },
  stopping: {
    session: 'stopping',
    isRunning: true,
    moves: [
      { on: 'exit', to: 'stopped', reason: 'kept' },
      { on: 'overflow', to: 'stopped', raisesEpoch: true, reason: 'log_full' },
      { on: 'lapse', to: 'stopped', ...lost },
      confirmed,
      forced,
    ],
  },
  lost: {
    session: 'disconnected',
    moves: [
      { on: 'attach', to: 'active', deadline: 'leaseMs', attaches: true },
      { on: 'deliver', to: 'delivered', deadline: 'ackMs', deliveries: 1, ...again },
      { on: 'reconnect', to: 'queued', ...again },
      confirmed,
      forced,
      { on: 'stop', to: 'stopped', ...lost },
      ...exits,
    ],
  },
  stopped: { session: 'stopped', moves: [] },
  done: { session: 'done', moves: [] },
  failed: { session: 'failed', moves: [] },
  dead: { session: 'failed', moves: [] },
};

const names = Object.keys(workStates) as WorkState[];

export function isFinal(state: WorkState): boolean {
  return workStates[state].moves.length === 0;
}

export const finalStates: readonly WorkState[] = names.filter(isFinal);

/** What a poll may take, the items of each in one queue. */
export const waitingStates: readonly WorkState[] = names.filter((name) =>
  workStates[name].moves.some(({ on }) => on === 'deliver'),
);

export const runningStates: readonly WorkState[] = names.filter((name) => workStates[name].isRunning);

/** Open, and not running. */
export const idleStates: readonly WorkState[] = names.filter(
  (name) => !isFinal(name) && !workStates[name].isRunning,
);

/** The session's status, from its work's state and from whether its environment was seen of late: the one place. */
export function sessionStatus(state: WorkState, isOnline = true): SessionStatus {
  const { session, silentSession = session } = workStates[state];
  return isOnline ? session : silentSession;
}
