import type { TokenSource } from '@sallyport/core';
import type { CredentialRule } from '../config/credentials.ts';
import type { Destinations } from '../config/destinations.ts';
import type { ValidationMode } from '../config/schema.ts';
import type { Drift } from './drift.ts';
import type { Occupancy } from './occupancy.ts';
import type { Outbox } from './outbox.ts';
import type { Upstreams } from './upstreams.ts';

/** What passes through, and where to. */
export interface Passthrough {
  readonly destinations: Destinations;
  readonly upstreams: Upstreams;
  /** The gateway's own login, where the rule is that. */
  loginFor(rule: CredentialRule): TokenSource | undefined;
  /** Where departures from the contract go. */
  readonly drift: Drift | undefined;
  /** Where telemetry waits that its upstream cannot take now; `undefined`: nowhere. */
  readonly outbox: Outbox | undefined;
  /** Who passes through now. */
  readonly occupancy: Occupancy;
  /** See `upstream` of the configuration. */
  readonly maxBodyBytes: number;
  readonly timeoutSeconds: number;
  readonly idleSeconds: number;
  readonly keepAliveSeconds: number;
  readonly rewriteWorkerAddresses: boolean;
  readonly validation: ValidationMode;
  /** Lets what is in flight end, and what is idle go. */
  retire(): Promise<void>;
  /** Cuts off what is still open. */
  close(): Promise<void>;
}
