import type { Role } from '@sallyport/core/organization';

/** Who calls with an access token or an API key. */
export interface Caller {
  readonly accountId: string;
  readonly organizationId: string;
  readonly role: Role;
  readonly permissions: readonly string[];
  readonly scopes: readonly string[];
  /** The login (token family) or API key behind the token: what a worker is told apart by where it sends no id. */
  readonly grantId: string;
  /** An access token's own id; a key has none. */
  readonly tokenId?: string;
  readonly isApiKey: boolean;
  /** The `Grants.changes` at which the grant was seen to stand: a watch of it goes on from there. */
  readonly since?: number;
}

/** Who calls with a session key. */
export interface SignedInCaller {
  readonly accountId: string;
  /** Of the sign-in: a worker's is another kind. */
  readonly sessionId: string;
}

/** Who calls with a worker's JWT; times in epoch milliseconds. */
export interface WorkerCaller {
  readonly sessionId: string;
  readonly environmentId: string;
  readonly workerId: string;
  readonly epoch: number;
  /** The grant by which the worker got its token. */
  readonly grantId: string;
  /** The trusted device that its bridge was registered from. */
  readonly deviceId?: string | undefined;
  /** As a `Caller`'s. */
  readonly since?: number;
  readonly expiresAt: number;
}

/** `undefined`: the row asks for no credential, or for one that may be left out. */
export type AnyCaller = Caller | SignedInCaller | WorkerCaller | undefined;

/** Tells who a credential is of; throws `invalid_token` where it is of nobody. */
export interface Authenticator {
  accessToken(token: string): Promise<Caller>;
  sessionKey(key: string): Promise<SignedInCaller>;
  ingress(token: string): Promise<WorkerCaller>;
}

/** What the caller's credential stands on: when it ends, so does what the caller has open. */
export function grantOf(caller: AnyCaller): string | undefined {
  return caller !== undefined && 'grantId' in caller ? caller.grantId : undefined;
}

/** The access token itself, which may be revoked alone. A worker's token stands on its login, by whichever access token it came. */
export function tokenOf(caller: AnyCaller): string | undefined {
  return caller !== undefined && 'tokenId' in caller ? caller.tokenId : undefined;
}

/** Since when a watch of that is to tell of changes. */
export function sinceOf(caller: AnyCaller): number | undefined {
  return caller !== undefined && 'since' in caller ? caller.since : undefined;
}
