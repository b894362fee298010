// Terminology
//
// environment   a directory of a machine in which work can run; registered while a bridge holds it; a managed one was
//               created through the API and is there without a bridge, too
// work item     the job of running one session; delivered by a poll, then acknowledged
// delivery      one answer to a poll that carries the item; unacknowledged, it lapses
// attempt       the time from the queue to an end or to the loss of the worker
// lease         how long acknowledged work counts as running without a sign of its worker
// epoch         numbers the workers of a session; only the newest may write
// log           a session's events, numbered densely by `seq` from 1
import type { WorkState } from '@sallyport/core/contract';

/** Who calls, as far as the bridge cares. `workerKey` tells workers of one account apart. */
export interface Caller {
  readonly accountId: string;
  readonly organizationId: string;
  readonly isAdmin: boolean;
  readonly workerKey: string;
  /** What stands behind the caller's credential; a worker's goes no further. */
  readonly grantId: string;
}

export type Json = Readonly<Record<string, unknown>>;

/** When an environment's bridge was seen last, and when it said that it stops: it is gone if nothing came after that. */
export interface Seen {
  readonly lastSeenAt: number;
  readonly leftAt: number | null;
}

/** Times of records are epoch milliseconds. */
export interface Environment {
  readonly id: string;
  readonly organizationId: string;
  /** Whose it is: the account that registered or created it. */
  readonly accountId: string;
  readonly machineName: string;
  readonly directory: string;
  readonly metadata: Json;
  /** It stays when its registration is removed. */
  readonly isManaged: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Since then it takes no sessions and no bridge. */
  readonly archivedAt: number | null;
  /** The bridge that holds it, or held it last; null where none does. */
  readonly registration: Registration | null;
}

export interface Registration extends Seen {
  /** The bridge's, by which it knows its own. */
  readonly workerKey: string;
  readonly workerType: string;
  /** The trusted device by whose token it was registered. */
  readonly deviceId: string;
}

export interface RegisteredEnvironment extends Environment {
  readonly registration: Registration;
}

export interface ListedEnvironment extends RegisteredEnvironment {
  readonly activeSessions: number;
}

export interface Work {
  readonly id: string;
  readonly environmentId: string;
  readonly sessionId: string;
  readonly type: string;
  readonly state: WorkState;
  /** When the present state lapses: a delivery, a lease, an unconfirmed stop. */
  readonly deadline: number | null;
  readonly deliveries: number;
  readonly attempt: number;
  /** The worker that acknowledged this attempt. */
  readonly ackedBy: string | null;
  /** Whether a stream of this attempt was ever open. */
  readonly attached: boolean;
  readonly reason: string | null;
}

export interface ListedSession {
  readonly id: string;
  readonly organizationId: string;
  /** Who created it. */
  readonly accountId: string;
  readonly environmentId: string;
  readonly workId: string;
  readonly title: string;
  readonly tags: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly workState: WorkState;
  /** The environment's; null when it is gone. */
  readonly seen: Seen | null;
}

export interface Session extends ListedSession {
  /** As large as a request may be: no list has it. */
  readonly context: Json;
}

/** What a stream needs to know of its session between two reads of the log. */
export interface SessionHead {
  readonly epoch: number;
  readonly lastSeq: number;
  /** The first event that the log still has; 1 unless trimming is configured. */
  readonly oldestSeq: number;
  /** The last frame that is known of the open worker stream; null where none is open. */
  readonly workerSeenAt: number | null;
  readonly workState: WorkState;
  /** Why its work ended, where that is known. */
  readonly workReason: string | null;
  /** It was deleted, or its registration removed: no bridge runs its work any more. */
  readonly environmentGone: boolean;
}

export type Origin = 'client' | 'service' | 'worker';

/** Who puts events into a log: a client's are of the account that sent them. */
export type Sender =
  { readonly origin: 'client'; readonly accountId: string } | { readonly origin: Exclude<Origin, 'client'> };

/** An event on its way into the log. */
export interface EventDraft {
  readonly id: string;
  readonly type: string;
  readonly data: Json;
}

export interface StoredEvent extends EventDraft {
  readonly seq: number;
  readonly createdAt: number;
  /** The client's that sent it; null for a worker's and the service's, and where the account was erased. */
  readonly accountId: string | null;
}

/** An event of any session, as the export of an account has it. */
export interface SentEvent extends StoredEvent {
  readonly sessionId: string;
}

export type Appended = {
  readonly id: string;
  readonly seq: number;
};
