import type { AuditAction } from '@sallyport/core/contract';

// Terminology
//
// audit entry   one act, or one failed sign-in: who did what to whose, when and from where; never a secret, nor an e-mail
//               address: accounts are told by their ids, so that an erased person's entries name nobody
// actor         who did it: an account, or an operator, who runs commands on the gateway's machine
// subject       the id, or the name, of what was acted on: a key, a device, a client, a setting

/** Who acts; an operator is told by the name of the machine's user. */
export interface Actor {
  readonly type: 'account' | 'operator';
  readonly id: string;
  /** The organization that an account acts for. */
  readonly organizationId?: string;
}

/** Where a call comes from. */
export interface CallOrigin {
  readonly actor?: Actor | undefined;
  /** Network address. */
  readonly address?: string | undefined;
  readonly requestId?: string | undefined;
}

/** What an act carries to the store, so that its entry is written in the same transaction. */
export interface AuditStamp extends CallOrigin {
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface NewAuditEntry {
  readonly action: AuditAction;
  readonly outcome: 'done' | 'failed';
  /** Who did it where the call does not say: whoever the account is of, or nobody knows. */
  readonly by: 'account' | 'unknown';
  /** Whose it was done to. */
  readonly accountId: string | null;
  /** `null`: not of one alone. */
  readonly organizationId: string | null;
  /** The organizations whose admins see it, where it is not of one; default: those that the account is a member of. */
  readonly seenBy?: readonly string[];
  readonly subject: string | null;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface AuditEntry extends Omit<NewAuditEntry, 'by' | 'seenBy'> {
  /** Rises with each entry. */
  readonly id: number;
  readonly at: number;
  readonly actorType: Actor['type'] | 'unknown';
  readonly actorId: string | null;
  readonly address: string | null;
  readonly requestId: string | null;
  /** Of actor and account, as long as there are such accounts. */
  readonly actorEmail: string | null;
  readonly accountEmail: string | null;
}
