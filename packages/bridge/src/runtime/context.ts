import type { Clock, Ids, Log, Random } from '@sallyport/core';
import type { Client, ClientOptions } from '@sallyport/core/client';
import type { RuntimeEvent } from './events.ts';
import type { StreamChoice } from './stream-choice.ts';

/** What all parts of one runtime share. */
export interface Context {
  readonly client: Client;
  readonly clientOptions: ClientOptions;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly log: Log;
  readonly emit: (event: RuntimeEvent) => void;
  /** Sent as `vendor-worker-id`: tells this installation's bridge from others of the account. */
  readonly workerId: string;
  readonly deriveIngressToken: (workerJwt: string) => string;
  /** Which transport sessions' streams take. */
  readonly streams: StreamChoice;
  /** Aborts when the bridge is to end at once: no call to the service is worth waiting for, but the farewell. */
  readonly killed: AbortSignal;
  /** Aborts when not even the farewell is waited for any more. */
  readonly gone: AbortSignal;
}
