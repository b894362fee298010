import type { Part } from '@sallyport/core';
import type { AdminReads } from './admin-ports.ts';
import type {
  Account,
  After,
  ApiKey,
  Client,
  DeviceGrant,
  Family,
  Membership,
  Organization,
  Role,
  Session,
  SigningKey,
  TrustedDevice,
} from './records.ts';

/** Bounded reads; each sees every act that was answered before. */
export interface OAuthReads extends AdminReads {
  /** Those that are published. */
  signingKeys(argument: { readonly now: number }): Promise<readonly SigningKey[]>;
  organization(argument: { readonly organizationId: string }): Promise<Organization | undefined>;
  /** Oldest first. */
  organizations(argument: {
    readonly after: After | undefined;
    readonly limit: number;
  }): Promise<Part<Organization>>;
  /** By name; the values are JSON text. */
  settings(argument: {
    readonly organizationId: string;
    readonly limit: number;
  }): Promise<readonly { readonly name: string; readonly value: string }[]>;
  /** Oldest first. */
  accounts(argument: { readonly after: After | undefined; readonly limit: number }): Promise<Part<Account>>;
  account(argument: { readonly accountId: string }): Promise<Account | undefined>;
  accountByEmail(argument: { readonly email: string }): Promise<Account | undefined>;
  /** Of those that there are. */
  accountEmails(argument: {
    readonly accountIds: readonly string[];
  }): Promise<readonly Pick<Account, 'id' | 'email'>[]>;
  /** The oldest account: the owner. */
  defaultAccount(): Promise<Account | undefined>;
  /** Oldest organization first. */
  memberships(argument: { readonly accountId: string }): Promise<readonly Membership[]>;
  setupAccount(argument: { readonly hash: string; readonly now: number }): Promise<Account | undefined>;
  /** A session that stands. */
  session(argument: { readonly hash: string; readonly now: number }): Promise<Session | undefined>;
  /** Those of an account that stand, newest first. */
  sessions(argument: {
    readonly accountId: string;
    readonly now: number;
    readonly limit: number;
  }): Promise<readonly Session[]>;
  client(argument: { readonly clientId: string }): Promise<Client | undefined>;
  family(argument: { readonly familyId: string }): Promise<Family | undefined>;
  /** Logins whose tokens may still count, newest first: neither revoked, nor ended before `endedBefore`, of a member. */
  families(argument: {
    readonly accountId: string;
    readonly organizationId: string;
    readonly endedBefore: number;
    readonly limit: number;
  }): Promise<readonly (Family & { readonly clientName: string })[]>;
  /** Whether an access token still counts, and as whose: `undefined` where it, its login or the membership is gone. */
  standing(argument: {
    readonly familyId: string;
    readonly jti: string;
  }): Promise<{ readonly role: Role } | undefined>;
  /**
   * Which of these families, API keys and trusted devices stand, with the role of their account: not revoked, of a member,
   * and no key past its end, no family that ended before `endedBefore`.
   */
  standingGrants(argument: {
    readonly grantIds: readonly string[];
    readonly endedBefore: number;
    readonly now: number;
  }): Promise<readonly { readonly id: string; readonly role: Role }[]>;
  /** Which of these access tokens were revoked by themselves. */
  revokedTokens(argument: { readonly tokenIds: readonly string[] }): Promise<readonly string[]>;
  /** A live grant by its user code. */
  deviceGrant(argument: {
    readonly userCode: string;
    readonly now: number;
  }): Promise<DeviceGrant | undefined>;
  trustedDevice(argument: { readonly hash: string }): Promise<TrustedDevice | undefined>;
  /** Newest first; revoked ones are left out. */
  trustedDevices(argument: {
    readonly accountId: string;
    readonly organizationId: string;
    readonly limit: number;
  }): Promise<readonly TrustedDevice[]>;
  /** A key that stands, of an account that is still a member, with its role of today. */
  apiKey(argument: {
    readonly hash: string;
    readonly now: number;
  }): Promise<(ApiKey & { readonly role: Role }) | undefined>;
  /** Those that stand, newest first. */
  apiKeys(argument: {
    readonly accountId: string;
    readonly organizationId: string;
    readonly now: number;
    readonly limit: number;
  }): Promise<readonly ApiKey[]>;
}
