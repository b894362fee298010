import type { deviceGrantType } from '@sallyport/core/contract';
import type { OrganizationType, Role } from '@sallyport/core/organization';

// Terminology
//
// account         a person, who signs in with a password
// organization    what accounts are members of, with a role in each; a token is for one organization
// session         a signed-in person; the session key proves it
// client          a program that is registered to ask for tokens (RFC 6749 2)
// code            an authorization code (RFC 6749 4.1)
// family          one login of a client: all tokens that descend from one code or device grant
// generation      the number of a refresh token within its family, from 1; the newest is the live one
// device grant    a device flow under way (RFC 8628): a device code, polled, and a user code, typed by a person
// trusted device  a machine that may register environments
// API key         a person's secret for programs, for one organization; without a login, and without an end unless it has one
// scope           neutral scope names, separated by spaces; `wire-scopes.ts` renders them in the deployment's dialect
//
// Times are epoch milliseconds. Secrets are never in a record, only their SHA-256.

export type { OrganizationType, Role };

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly type: OrganizationType;
  readonly rateLimitTier: string;
  readonly capabilities: readonly string[];
  readonly zeroDataRetention: boolean;
  readonly createdAt: number;
}

export interface Account {
  readonly id: string;
  /** Lower-case. */
  readonly email: string;
  /** A PHC string; `null` until a password is set. */
  readonly passwordHash: string | null;
  readonly createdAt: number;
  /** How often it was unlocked: wrong passwords of before the last time count no more. */
  readonly unlocks: number;
}

export interface Membership {
  readonly organization: Organization;
  readonly role: Role;
}

export interface Session {
  readonly id: string;
  readonly accountId: string;
  /** Where the person signed in from, and with which browser; `null` for a session key that an admin command made. */
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number;
}

/** Where a session begins. */
export type SessionOrigin = Pick<Session, 'address' | 'userAgent'>;

export type GrantType = 'authorization_code' | 'refresh_token' | typeof deviceGrantType;

export interface Client {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly GrantType[];
  readonly scope: string;
  readonly createdAt: number;
}

export interface Code {
  readonly hash: string;
  readonly clientId: string;
  readonly accountId: string;
  readonly organizationId: string;
  readonly sessionId: string;
  readonly redirectUri: string;
  readonly scope: string;
  /** RFC 7636 `code_challenge`, method S256. */
  readonly challenge: string;
  readonly expiresAt: number;
  /** Verifiers that did not fit. */
  readonly mismatches: number;
  readonly usedAt: number | null;
  /** The family that its use began. */
  readonly familyId: string | null;
}

export interface Family {
  readonly id: string;
  readonly clientId: string;
  readonly accountId: string;
  readonly organizationId: string;
  readonly scope: string;
  /** Network address of the program when it logged in; `null` for a login of an earlier release. */
  readonly address: string | null;
  readonly generation: number;
  /** When the last generations were succeeded, newest first: the first is that of `generation - 1`. */
  readonly rotations: readonly number[];
  readonly createdAt: number;
  readonly idleExpiresAt: number;
  readonly expiresAt: number;
  readonly revokedAt: number | null;
}

/** Whose logins. */
export type LoginOwner = Pick<Family, 'accountId' | 'organizationId'>;

export type DeviceGrantState = 'pending' | 'approved' | 'denied' | 'used';

export interface DeviceGrant {
  readonly hash: string;
  /** Without the dash. */
  readonly userCode: string;
  readonly clientId: string;
  readonly scope: string;
  /** Network address of the program that asked; shown to the person who decides. */
  readonly address: string;
  /** What pending ones are counted by: the address, of IPv6 its network. */
  readonly network: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** How often the poller was told to slow down: RFC 8628 3.5 adds 5 s each time, for good. */
  readonly slowDowns: number;
  readonly lastPollAt: number | null;
  readonly state: DeviceGrantState;
  /** Who approved, and for which organization. */
  readonly accountId: string | null;
  readonly organizationId: string | null;
}

export interface TrustedDevice {
  readonly id: string;
  readonly accountId: string;
  readonly organizationId: string;
  readonly displayName: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

export interface ApiKey {
  readonly id: string;
  readonly accountId: string;
  readonly organizationId: string;
  readonly name: string | null;
  readonly scope: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
}

/** Where a person sets a password, and until when, in epoch milliseconds. */
export interface SetupLink {
  readonly url: string;
  readonly expiresAt: number;
}

/** A key for signing; `privateJwk` is an EC P-256 JWK (RFC 7517) as JSON text. */
export interface SigningKey {
  /** RFC 7638 thumbprint. */
  readonly kid: string;
  readonly privateJwk: string;
  /** Published from the start, so that verifiers know it before it signs. */
  readonly signsFrom: number;
  /** When its last token has expired; `null` while it has no successor. */
  readonly publishedUntil: number | null;
}

/** Where a page of a list begins: after that one. */
export type After = Pick<Account, 'createdAt' | 'id'>;
