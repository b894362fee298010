// Terminology
//
// outbox       requests that were accepted here and wait for their upstream
// queue        those of one organization, in the order in which they came
// kept         in the outbox, on disk: the caller has been told that it is accepted
// dead letter  a request that the upstream refuses for good, put aside on disk for a person to look into
// dropped      gone without having been taken: for room, for its age, or because it was an old dead letter

/** A request as it goes upstream, but for the credential, which never rests. */
export interface OutboxRequest {
  /** Whose queue it stands in; empty where it is nobody's. */
  readonly organizationId: string;
  /** Who sent it; empty where that is nobody known. */
  readonly accountId: string;
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** Path and query, as the caller asked. */
  readonly path: string;
  /** Flat, names and values by turns. */
  readonly headers: readonly string[];
  /** As it came, compressed or not. */
  readonly body: Uint8Array;
}

/** One whose records were counted. */
export interface CountedRequest extends OutboxRequest {
  readonly records: number;
}

export interface KeptRequest extends CountedRequest {
  readonly id: number;
}

/** A part of a request that was too large. */
export type Half = Pick<CountedRequest, 'headers' | 'body' | 'records'>;

export type WhenFull = 'reject' | 'drop_oldest';

export interface OutboxBounds {
  readonly maxBytes: number;
  readonly maxRecords: number;
  /** What has to be left on the disk, so that what leaves the outbox can be written there. */
  readonly reserveBytes: number;
  readonly whenFull: WhenFull;
}

/** How much there is. */
export interface Amount {
  readonly requests: number;
  readonly records: number;
  readonly bytes: number;
}

/** What waits, and what was put aside. */
export interface OutboxHead extends Amount {
  /** When the oldest that waits came; epoch milliseconds. */
  readonly oldestAt: number | null;
  readonly deadLetters: Amount;
}

/** A dead letter but for its request, which may be large. */
export interface DeadLetter {
  readonly id: number;
  readonly organizationId: string;
  readonly accountId: string;
  readonly receivedAt: number;
  readonly refusedAt: number;
  /** The upstream's, and the beginning of what it said. */
  readonly status: number;
  readonly reason: string;
  readonly records: number;
  readonly bytes: number;
  readonly path: string;
}

/** What waits, or the dead letters. */
interface Among {
  readonly among: 'waiting' | 'dead_letters';
}

export interface OfAccount extends Among {
  readonly accountId: string;
}

export interface OfOrganization extends Among {
  readonly organizationId: string;
}

/** The outbox's atomic acts. */
export interface OutboxActs {
  /**
   * Adds one at the end of its queue. Where the bounds would be passed, it is not kept, or the oldest of the longest queue
   * go. An organization that takes more than an eighth of them leaves the last eighth to others.
   */
  keep(
    input: CountedRequest & { readonly bounds: OutboxBounds },
  ): Promise<OutboxHead & { readonly isKept: boolean; readonly dropped: number }>;
  /** Removes one that was taken. */
  settle(input: { readonly id: number }): Promise<OutboxHead>;
  /** Puts its halves in the place of one. */
  split(input: { readonly id: number; readonly halves: readonly Half[] }): Promise<OutboxHead>;
  /** Makes one a dead letter; those that were put aside first go where all take more than `maxBytes`. */
  refuse(
    input: Pick<DeadLetter, 'id' | 'refusedAt' | 'status' | 'reason'> & { readonly maxBytes: number },
  ): Promise<OutboxHead & { readonly dropped: number }>;
  /** Removes some of those that came before: `done` tells whether those were all. */
  expire(input: {
    readonly receivedBefore: number;
  }): Promise<OutboxHead & { readonly dropped: number; readonly done: boolean }>;
  /** Puts a dead letter at the end of its queue again, as if it came then, if it is there and the bounds allow. */
  retryDeadLetter(input: {
    readonly id: number;
    readonly receivedAt: number;
    readonly bounds: Omit<OutboxBounds, 'whenFull'>;
  }): Promise<{ readonly outcome: 'waits' | 'full' | 'gone' }>;
  dropDeadLetter(input: { readonly id: number }): Promise<{ readonly outcome: 'dropped' | 'gone' }>;
  /** Removes some of those that were put aside before. */
  expireDeadLetters(input: {
    readonly refusedBefore: number;
  }): Promise<OutboxHead & { readonly dropped: number; readonly done: boolean }>;
  /** Removes some of an account's, or of an organization's. */
  eraseOf(input: OfAccount | OfOrganization): Promise<{ readonly erased: number; readonly done: boolean }>;
}

export interface OutboxReads {
  /** The first of a queue. */
  oldest(input: { readonly organizationId: string }): Promise<KeptRequest | undefined>;
  /** Whose queues are not empty. */
  queues(): Promise<readonly string[]>;
  head(): Promise<OutboxHead>;
  /** In the order in which they were put aside. */
  deadLetters(input: { readonly after: number; readonly limit: number }): Promise<readonly DeadLetter[]>;
  /** The first of an account's behind an id. */
  nextOfAccount(
    input: OfAccount & { readonly after: number },
  ): Promise<(KeptRequest & Partial<Pick<DeadLetter, 'refusedAt' | 'status' | 'reason'>>) | undefined>;
}

export type OutboxStore = OutboxActs & OutboxReads;
