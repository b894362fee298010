// Terminology
//
// outbox   requests that were accepted here and wait for their upstream, in the order in which they came
// kept     in the outbox, on disk: the caller has been told that it is accepted
// dropped  gone from the outbox without having been taken: for room, for its age, or because the upstream refuses it

/** A request as it goes upstream, but for the credential, which never rests. */
export interface OutboxRequest {
  /** Epoch milliseconds. */
  readonly receivedAt: number;
  /** Path and query, as the caller asked. */
  readonly path: string;
  /** Flat, names and values by turns. */
  readonly headers: readonly string[];
  /** As it came, compressed or not. */
  readonly body: Uint8Array;
}

export interface KeptRequest extends OutboxRequest {
  readonly id: number;
}

export type WhenFull = 'reject' | 'drop_oldest';

/** What waits. */
export interface OutboxHead {
  readonly requests: number;
  readonly bytes: number;
}

/** The outbox's atomic acts. */
export interface OutboxActs {
  /** Adds one at the end. Where all together would take more than `maxBytes`, it is not kept, or the oldest go. */
  keep(
    input: OutboxRequest & { readonly maxBytes: number; readonly whenFull: WhenFull },
  ): Promise<OutboxHead & { readonly isKept: boolean; readonly dropped: number }>;
  /** Removes one that was taken or refused. */
  settle(input: { readonly id: number }): Promise<OutboxHead>;
  /** Removes some of those that came before: `done` tells whether those were all. */
  expire(input: {
    readonly receivedBefore: number;
  }): Promise<OutboxHead & { readonly dropped: number; readonly done: boolean }>;
}

export interface OutboxReads {
  /** The one that came first. */
  oldest(): Promise<KeptRequest | undefined>;
  head(): Promise<OutboxHead>;
}

export type OutboxStore = OutboxActs & OutboxReads;
