import type { Part } from '@sallyport/core';
import type { AuditEntry, NewAuditEntry } from './audit-entry.ts';
import type { Account, After, ApiKey, Client, Family, Role, Session, TrustedDevice } from './records.ts';

/** A page of a list that is sorted by creation, newest first: what comes before that place. */
export interface NewestFirst {
  readonly before: After | undefined;
  readonly limit: number;
}

/** What happened, newest first. */
export interface AuditFilter {
  /** Left out: all of the installation. */
  readonly organizationId?: string | undefined;
  readonly actorId?: string | undefined;
  readonly action?: string | undefined;
  /** Epoch milliseconds: from then on, and before then. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  readonly before?: { readonly at: number; readonly id: number } | undefined;
  readonly limit: number;
}

/** Whose a record is, as others are told of it. */
export type Owned<Record> = Record & { readonly email: string };

export type Removed = {
  readonly outcome: 'done' | 'unknown' | 'last_admin';
  /** Those that it was a member of. */
  readonly organizationIds: readonly string[];
};

/** What admins do, and operators: a part of `OAuthActs`. */
export interface AdminActs {
  /** Of what no act of the store stands for: a sign-in that failed, an export. */
  recordAudit(argument: { readonly entry: NewAuditEntry }): Promise<void>;
  /** Makes the account where none has its e-mail address, and a member of it; one that is a member stays as it is. */
  addMember(argument: {
    readonly account: Account;
    readonly organizationId: string;
    readonly role: Role;
  }): Promise<{
    readonly outcome: 'added' | 'joined' | 'member';
    readonly account: Account;
    /** Whether the account has neither a password nor another organization: it is no use to anybody yet. */
    readonly isUnused: boolean;
  }>;
  /** Removes a client with its codes and device grants, and revokes its logins. */
  removeClient(argument: { readonly clientId: string; readonly now: number }): Promise<'done' | 'unknown'>;
  /** Ends a session of an account that is a member of the organization. */
  endMemberSession(argument: {
    readonly sessionId: string;
    readonly organizationId: string;
  }): Promise<{ readonly accountId: string } | undefined>;
  /**
   * Begins a new count of an account's wrong passwords, of a member alone where an organization is named. `wasLocked`: an
   * `account.lock` of the last `windowMs` still held, and none unlocked it.
   */
  unlockAccount(argument: {
    readonly accountId: string;
    readonly organizationId: string | undefined;
    readonly now: number;
    readonly windowMs: number;
  }): Promise<{ readonly email: string; readonly wasLocked: boolean } | undefined>;
  /** Ends all that an account may call with, its password and its memberships; the account and what it is told by stay. */
  closeAccount(argument: { readonly accountId: string }): Promise<Removed>;
  /**
   * Deletes the account, and of the audit entries what tells of a person: the address that its calls came from and the
   * names that it gave. `false` where it is not there.
   */
  eraseAccount(argument: { readonly accountId: string }): Promise<boolean>;
  /**
   * Ends all memberships of the organization, with what members call with there: logins, those to be, keys, devices. `first`,
   * and nothing is done, where it is the installation's first organization.
   */
  closeOrganization(argument: { readonly organizationId: string }): Promise<'done' | 'unknown' | 'first'>;
  /** Deletes the organization with its settings. `false` where it is not there. */
  eraseOrganization(argument: { readonly organizationId: string }): Promise<boolean>;
}

/** What admins and operators look at: a part of `OAuthReads`. */
export interface AdminReads {
  /** Members of an organization, oldest account first. */
  members(argument: {
    readonly organizationId: string;
    readonly after: After | undefined;
    readonly limit: number;
  }): Promise<Part<Account & { readonly role: Role }>>;
  /** Oldest first. */
  clients(argument: { readonly after: After | undefined; readonly limit: number }): Promise<Part<Client>>;
  /** Those that stand, of members, newest first; and so on with the next three. */
  organizationApiKeys(
    argument: NewestFirst & { readonly organizationId: string; readonly now: number },
  ): Promise<Part<Owned<ApiKey>>>;
  organizationDevices(
    argument: NewestFirst & { readonly organizationId: string },
  ): Promise<Part<Owned<TrustedDevice>>>;
  organizationLogins(
    argument: NewestFirst & { readonly organizationId: string; readonly endedBefore: number },
  ): Promise<Part<Owned<Family> & { readonly clientName: string | null }>>;
  memberSessions(
    argument: NewestFirst & { readonly organizationId: string; readonly now: number },
  ): Promise<Part<Owned<Session>>>;
  auditEntries(argument: AuditFilter): Promise<Part<AuditEntry>>;

  /** All of an account's, in the order of their ids, whether they stand or not. */
  accountSessions(argument: OfAccount): Promise<Part<Session>>;
  accountLogins(argument: OfAccount): Promise<Part<Family>>;
  accountApiKeys(argument: OfAccount): Promise<Part<ApiKey>>;
  accountDevices(argument: OfAccount): Promise<Part<TrustedDevice>>;
  /** By the account, and to it. */
  accountAudit(argument: {
    readonly accountId: string;
    readonly after: number;
    readonly limit: number;
  }): Promise<Part<AuditEntry>>;
}

export interface OfAccount {
  readonly accountId: string;
  /** The id that the page before ended with; `''`: from the beginning. */
  readonly after: string;
  readonly limit: number;
}
