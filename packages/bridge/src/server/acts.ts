import type { WorkState } from '@sallyport/core/contract';
import type { WorkTerms } from './config.ts';
import type { Appended, EventDraft, Json, Seen } from './records.ts';

/** When an act happens, and the terms by which it judges. */
export interface Timing {
  readonly now: number;
  readonly terms: WorkTerms;
}

export interface RegisterEnvironment extends Timing {
  readonly accountId: string;
  readonly organizationId: string;
  readonly deviceId: string;
  readonly workerKey: string;
  /** Taken if the registration is for no environment that exists. */
  readonly newId: string;
  readonly sentId: string | undefined;
  readonly machineName: string;
  readonly directory: string;
  readonly metadata: Json;
  readonly ttlMs: number;
}

/** The same account's same key within the time makes nothing new; another request under it is refused. */
export interface Idempotency {
  readonly key: string;
  readonly fingerprint: string;
  readonly since: number;
}

export interface CreateEnvironment {
  readonly id: string;
  readonly accountId: string;
  readonly organizationId: string;
  readonly machineName: string;
  readonly directory: string;
  readonly metadata: Json;
  readonly now: number;
  readonly idempotency: Idempotency | undefined;
}

export interface CreateSession extends Timing {
  readonly id: string;
  readonly workId: string;
  readonly accountId: string;
  readonly organizationId: string;
  readonly environmentId: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly context: Json;
  readonly events: readonly EventDraft[];
  readonly idempotency: Idempotency | undefined;
}

/** An item whose state an act changed: whom to wake. */
export interface Touched {
  readonly workId: string;
  readonly sessionId: string;
  readonly environmentId: string;
  readonly state: WorkState;
}

export interface WorkerAttached {
  /** Tells this stream from the earlier ones of its session. */
  readonly stream: number;
  readonly lastSeq: number;
  readonly oldestSeq: number;
  /** What workers of this session have acknowledged. */
  readonly takenSeq: number;
}

export interface DeletedSession {
  /** Who created it. */
  readonly accountId: string;
  readonly organizationId: string;
  readonly environmentId: string;
}

/** A sign of life of a session's worker, as it is written. */
export interface Renewal {
  readonly sessionId: string;
  readonly epoch: number;
  readonly at: number;
  readonly takenSeq: number;
  /** The stream that ended with it; left out while it is open. */
  readonly endedStream?: number;
}

/**
 * The atomic acts of the bridge. Each loads, calls the judgements of this package and saves, in one transaction. An act
 * throws the `ServiceError` of its judgement, and `not_found` where its subject is gone; then nothing has changed.
 */
export interface BridgeActs {
  /** Gives the environment's id; throws `already_registered`. */
  registerEnvironment(argument: RegisterEnvironment): Promise<{
    readonly environmentId: string;
    /** What the registration before had acknowledged and never begun: it waits again. */
    readonly returned: readonly Touched[];
  }>;
  /** Removes the registration, and the environment unless it is managed; stops its work by force and remembers that. */
  unregisterEnvironment(argument: Timing & { readonly environmentId: string }): Promise<readonly Touched[]>;
  /** Creates a managed environment; gives its id: another's where the key is known. */
  createEnvironment(argument: CreateEnvironment): Promise<string>;
  /** Replaces what is given; metadata are merged. */
  updateEnvironment(argument: {
    readonly environmentId: string;
    readonly machineName: string | undefined;
    readonly directory: string | undefined;
    readonly metadata: Json | undefined;
    readonly now: number;
  }): Promise<void>;
  /** Stops its work gracefully; from now on it takes none. Throws `already_archived`. */
  archiveEnvironment(argument: Timing & { readonly environmentId: string }): Promise<readonly Touched[]>;
  /** Removes the environment with its registration, stops its work by force and remembers that it was deleted. */
  deleteEnvironment(argument: Timing & { readonly environmentId: string }): Promise<readonly Touched[]>;
  /** Remembers that the environment's bridge stops; a `workerKey` other than its holder's changes nothing. */
  leaveEnvironment(argument: {
    readonly environmentId: string;
    readonly workerKey: string | undefined;
    readonly now: number;
  }): Promise<Seen>;
  /** Writes when environments were seen; what their present worker acknowledged and waits for a first stream is renewed. */
  touchEnvironments(argument: {
    readonly seen: readonly { readonly environmentId: string; readonly at: number }[];
    readonly firstAttachMs: number;
  }): Promise<void>;
  /** Delivers the oldest waiting item of these types, if any. */
  claimWork(
    argument: Timing & { readonly environmentId: string; readonly types: readonly string[] },
  ): Promise<ClaimedWork | null>;
  /** Takes a delivery back that never arrived. */
  returnWork(
    argument: Timing & { readonly workId: string; readonly delivery: number },
  ): Promise<Touched | null>;
  ackWork(
    argument: Timing & {
      readonly environmentId: string;
      readonly workId: string;
      readonly workerKey: string;
    },
  ): Promise<Touched>;
  stopWork(
    argument: Timing & {
      readonly environmentId: string;
      readonly workId: string;
      readonly force: boolean;
      readonly reason?: string | undefined;
      /** Session and epoch of the worker token that came along. */
      readonly proof: WorkerProof | null;
    },
  ): Promise<Touched>;
  /** Judges the items whose deadline went by, at most `limit`; environments seen after `onlineSince` get theirs back. */
  lapseWork(
    argument: Timing & { readonly onlineSince: number; readonly limit: number },
  ): Promise<readonly Touched[]>;
  /** Gives all work that counts on signs of life at least until `until`. */
  extendLeases(argument: { readonly until: number }): Promise<void>;
  /** Queues the session's work again, unless a live worker holds it; throws `session_active` and `session_ended`. */
  reconnectSession(
    argument: Timing & {
      readonly environmentId: string;
      readonly sessionId: string;
      readonly provenEpoch: number | null;
    },
  ): Promise<Touched>;
  /** Session, first events and work item; gives the session's id: another's where the key is known. Throws `quota_exceeded`. */
  createSession(argument: CreateSession): Promise<{ readonly id: string; readonly isNew: boolean }>;
  /** Gives whose it was; `null` where it is gone already. */
  deleteSession(argument: { readonly sessionId: string }): Promise<DeletedSession | null>;
  /** Step 1 of the handshake: gives the caller's epoch. */
  takeOverSession(argument: {
    readonly sessionId: string;
    readonly provenEpoch: number | null;
  }): Promise<{ readonly epoch: number; readonly hasNewWorker: boolean }>;
  /** A worker's stream opens; throws `stale_epoch`. */
  attachWorker(
    argument: Timing & { readonly sessionId: string; readonly epoch: number },
  ): Promise<WorkerAttached>;
  renewWorkers(argument: { readonly renewals: readonly Renewal[]; readonly leaseMs: number }): Promise<void>;
  /**
   * Appends in order; an id that the session knows keeps its first `seq`, and its first sender. With an `epoch` the events
   * are the worker's: `worker.exited` among them ends the work, and what is new after the end is left out of the answer.
   * With an account they are that client's, and an ended session refuses them, as does an organization whose logs are full. A log that gets larger than
   * the terms allow loses its oldest events, but none that its worker has yet to take: where those fill it, clients get
   * `quota_exceeded`, and a worker that goes on all the same ends the session.
   */
  appendEvents(
    argument: Timing & {
      readonly sessionId: string;
      readonly from: { readonly epoch: number } | { readonly accountId: string };
      readonly events: readonly EventDraft[];
    },
  ): Promise<readonly Appended[]>;
  /** Takes the account from at most `limit` events that it sent; gives of how many. The events stay. */
  forgetSender(argument: { readonly accountId: string; readonly limit: number }): Promise<number>;
  /**
   * Looks at sessions in the order of their ids, beginning after `after`, and removes at most `limit` events: sessions that
   * ended before `before` whole, of others the events that are older, but none that a worker has yet to take. `next` is where to go on; `undefined`: all are seen.
   */
  expireLogs(argument: {
    readonly before: number;
    readonly after: string;
    readonly limit: number;
  }): Promise<{ readonly removed: readonly string[]; readonly next: string | undefined }>;
}

export interface WorkerProof {
  readonly sessionId: string;
  readonly epoch: number;
}

export interface ClaimedWork {
  readonly id: string;
  readonly type: string;
  readonly sessionId: string;
  readonly delivery: number;
}
