import type { BridgeActs } from './acts.ts';
import type { BridgeReads } from './reads.ts';

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
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export interface WorkerTokens {
  mint(
    claims: Omit<WorkerClaims, 'expiresAt'>,
  ): Promise<{ readonly token: string; readonly expiresAt: number }>;
  /** Throws `invalid_token` where it is none, or expired. */
  verify(token: string): Promise<WorkerClaims>;
}

export interface TrustedDevices {
  /** Throws `invalid_token` for an unknown or revoked device, `forbidden` for another account's. */
  check(
    token: string,
    owner: { readonly accountId: string; readonly organizationId: string },
  ): Promise<{ readonly deviceId: string }>;
}
