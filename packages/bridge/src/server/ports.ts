import type { Grants } from '@sallyport/core';
import type { BridgeActs } from './acts.ts';
import type { BridgeReads } from './reads.ts';

/** Where the engine keeps what it knows. `@sallyport/bridge/storage` has what an adapter needs for one. */
export interface BridgeStore {
  readonly acts: BridgeActs;
  readonly reads: BridgeReads;
}

/** What a worker's JWT says. */
export interface WorkerClaims {
  readonly sessionId: string;
  readonly environmentId: string;
  readonly workerId: string;
  readonly epoch: number;
  /** The grant by which the worker got the token: with it the token ends. */
  readonly grantId: string;
  /** The trusted device that its bridge was registered from: with it, too. Tokens of earlier releases do not tell. */
  readonly deviceId?: string | undefined;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Makes and checks the JWTs of workers. */
export interface WorkerTokens {
  /** How long it lives is the maker's own affair; `verify` tells. */
  mint(claims: Omit<WorkerClaims, 'expiresAt'>): Promise<string>;
  /** Throws `invalid_token` where it is none, or expired. */
  verify(token: string): Promise<WorkerClaims>;
}

/** Knows the machines from which an account may register bridges; a watch is told when one is trusted no more. */
export interface TrustedDevices extends Grants {
  /** Throws `invalid_token` for an unknown device, `device_revoked` for a revoked one, `forbidden` for another account's. */
  check(
    token: string,
    owner: { readonly accountId: string; readonly organizationId: string },
  ): Promise<{ readonly deviceId: string }>;
  /** Whether it is trusted still. */
  stands(deviceId: string): Promise<boolean>;
}
