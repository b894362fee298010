import type { AdminActs, Removed } from './admin-ports.ts';
import type { CodeTerms, CodeVerdict, PresentedCode } from './code.ts';
import type { DecisionVerdict, DeviceTerms, PollVerdict, PresentedDeviceCode } from './device-grant.ts';
import type { PresentedRefresh, RefreshTerms, RefreshVerdict } from './family.ts';
import type {
  Account,
  ApiKey,
  Client,
  Code,
  DeviceGrant,
  Family,
  LoginOwner,
  Organization,
  Role,
  Session,
  SigningKey,
  TrustedDevice,
} from './records.ts';

/** A secret's record, by the hash of the secret. */
export type Hashed<Record> = Record & { readonly hash: string };

export interface NewAccount {
  readonly account: Account;
  readonly organizationId: string;
  readonly role: Role;
}

/** What may change of an organization; what is left out stays. */
export type OrganizationChanges = Partial<
  Pick<Organization, 'type' | 'rateLimitTier' | 'capabilities' | 'zeroDataRetention'>
>;

/**
 * The atomic acts of the authorization server. Each loads, calls the judgement of this package and saves, in one
 * transaction, and gives the verdict back; none throws to refuse, because a refusal may have changed the state.
 * Where an argument comes with a stamp, what `auditEntriesOf` says of the act is written in its transaction.
 */
export interface OAuthActs extends AdminActs {
  /** Organization and owner are made where there is no organization yet; the clients are added, or brought up to date. */
  install(argument: {
    readonly organization: Organization;
    readonly owner: Account;
    readonly clients: readonly Client[];
  }): Promise<{ readonly isNew: boolean }>;
  /** Gives the secret of that name: the one kept, else `value`, kept from now on. */
  keepSecret(argument: { readonly name: string; readonly value: string }): Promise<string>;

  /** Adds a signing key if there is none. */
  addFirstKey(argument: { readonly key: SigningKey }): Promise<void>;
  /** Adds the next key and retires the present one; `false` while an earlier rotation is still under way. */
  rotateKeys(argument: {
    readonly next: SigningKey;
    readonly retireAt: number;
    readonly now: number;
  }): Promise<boolean>;

  addOrganization(argument: { readonly organization: Organization }): Promise<void>;
  /** Gives the organization as it is then. */
  changeOrganization(argument: {
    readonly organizationId: string;
    readonly changes: OrganizationChanges;
  }): Promise<Organization | undefined>;
  /** `value` is JSON text. An organization has `max` of them, and names and values of `maxBytes` together. */
  setSetting(argument: {
    readonly organizationId: string;
    readonly name: string;
    readonly value: string;
    readonly max: number;
    readonly maxBytes: number;
  }): Promise<'set' | 'unknown' | 'too_many' | 'too_large'>;
  /** `false` where there is no such setting. */
  unsetSetting(argument: { readonly organizationId: string; readonly name: string }): Promise<boolean>;
  /** Makes an account a member, unless it is to be one already, or changes its role. An organization keeps an admin. */
  setRole(argument: {
    readonly accountId: string;
    readonly organizationId: string;
    readonly role: Role;
    readonly membersOnly?: boolean;
  }): Promise<'done' | 'unknown' | 'last_admin'>;
  /** With it end, for good, the account's logins, those to be, keys and devices in the organization. */
  endMembership(argument: {
    readonly accountId: string;
    readonly organizationId: string;
    readonly now: number;
  }): Promise<'done' | 'unknown' | 'last_admin'>;
  /** Deletes the account with all that stands for it: sessions, logins, keys, devices. */
  removeAccount(argument: { readonly accountId: string }): Promise<Removed>;
  /** `false` where the e-mail address is taken. */
  addAccount(argument: NewAccount): Promise<boolean>;
  addClient(argument: { readonly client: Client }): Promise<void>;

  /** Replaces the account's earlier setup token. */
  addSetupToken(argument: Hashed<{ readonly accountId: string; readonly expiresAt: number }>): Promise<void>;
  /** Consumes the token, sets the password, ends the account's sessions and begins `session`; `false` for a bad token. */
  redeemSetupToken(argument: {
    readonly hash: string;
    readonly passwordHash: string;
    readonly session: Hashed<Omit<Session, 'accountId'>>;
    readonly now: number;
  }): Promise<{ readonly accountId: string } | undefined>;
  /**
   * Ends the account's sessions and its setup token, and begins `session` where there is one. `false`, and nothing is done,
   * where `replaced` is given and the password is another by now.
   */
  setPassword(argument: {
    readonly accountId: string;
    readonly passwordHash: string;
    readonly session?: Hashed<Omit<Session, 'accountId'>>;
    readonly replaced?: string | null;
  }): Promise<boolean>;

  /** `false`, and nothing is done, where `passwordHash` is given and is no longer the account's. */
  addSession(argument: {
    readonly session: Hashed<Session>;
    readonly passwordHash?: string | null;
  }): Promise<boolean>;
  /** Writes when a session was last used. */
  touchSession(argument: { readonly sessionId: string; readonly at: number }): Promise<void>;
  /** `false` where the account has no such session. */
  endSession(argument: { readonly sessionId: string; readonly accountId: string }): Promise<boolean>;
  /** Ends all sessions of the account but that one; gives how many. */
  endOtherSessions(argument: { readonly sessionId: string; readonly accountId: string }): Promise<number>;

  addCode(argument: { readonly code: Code }): Promise<void>;
  consumeCode(argument: {
    readonly hash: string;
    readonly presented: PresentedCode;
    readonly now: number;
    readonly terms: CodeTerms;
  }): Promise<CodeVerdict>;

  rotateRefresh(argument: {
    readonly familyId: string;
    readonly presented: PresentedRefresh;
    readonly now: number;
    readonly terms: RefreshTerms;
  }): Promise<RefreshVerdict>;
  /**
   * Revokes a login of that client, of that account in that organization, or of that organization; another's stays. `isNew`
   * where it was not revoked before.
   */
  revokeFamily(argument: {
    readonly familyId: string;
    readonly of: Pick<Family, 'clientId'> | Pick<Family, 'organizationId'> | LoginOwner;
    readonly now: number;
  }): Promise<{ readonly login: Family; readonly isNew: boolean } | undefined>;
  revokeAccessToken(argument: {
    readonly jti: string;
    readonly expiresAt: number;
    readonly accountId: string;
    readonly organizationId: string;
  }): Promise<void>;

  /** Refuses a user code that a live grant has, and one pending grant too many of a client in a network. */
  addDeviceGrant(argument: {
    readonly grant: DeviceGrant;
    readonly maxPending: number;
    readonly now: number;
  }): Promise<'added' | 'taken' | 'too_many'>;
  decideDeviceGrant(argument: {
    readonly userCode: string;
    readonly approve: boolean;
    readonly accountId: string;
    readonly organizationId: string;
    readonly now: number;
  }): Promise<DecisionVerdict>;
  /** An approval counts as long as the account that gave it is a member of the organization. */
  pollDeviceGrant(argument: {
    readonly hash: string;
    readonly presented: PresentedDeviceCode;
    readonly now: number;
    readonly terms: DeviceTerms;
  }): Promise<PollVerdict>;

  /** Refuses an account that is no member of the organization, and one that has `max` devices there that stand. */
  addTrustedDevice(argument: {
    readonly device: Hashed<TrustedDevice>;
    readonly max: number;
  }): Promise<'added' | 'no_member' | 'too_many'>;
  /** Writes when a device was last used. */
  touchTrustedDevice(argument: { readonly deviceId: string; readonly at: number }): Promise<void>;
  /**
   * Whose device it was; `undefined` where the organization, or the account if one is named, has no such device. `isNew`
   * where it was not revoked before.
   */
  revokeTrustedDevice(argument: {
    readonly deviceId: string;
    readonly accountId: string | undefined;
    readonly organizationId: string;
    readonly now: number;
  }): Promise<{ readonly accountId: string; readonly isNew: boolean } | undefined>;

  /** Refuses an account that is no member of the organization, and one that has `max` keys there that stand. */
  addApiKey(argument: {
    readonly key: Hashed<ApiKey>;
    readonly max: number;
    readonly now: number;
  }): Promise<'added' | 'no_member' | 'too_many'>;
  /** Writes when a key was last used. */
  touchApiKey(argument: { readonly keyId: string; readonly at: number }): Promise<void>;
  /**
   * Whose key it was; `undefined` where the organization, or the account if one is named, has no such key. `isNew` where it
   * was not revoked before.
   */
  revokeApiKey(argument: {
    readonly keyId: string;
    readonly accountId: string | undefined;
    readonly organizationId: string;
    readonly now: number;
  }): Promise<{ readonly accountId: string; readonly isNew: boolean } | undefined>;

  /**
   * Deletes what expired before `before`, and audit entries of before `auditBefore`; at most `limit` rows of each kind, and
   * tells whether more may be left.
   */
  sweep(argument: {
    readonly before: number;
    readonly auditBefore: number;
    readonly limit: number;
  }): Promise<boolean>;
}
