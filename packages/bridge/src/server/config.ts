import type { Quota } from './quota.ts';

/** How the bridge keeps time and bounds: `bridge.*` of the gateway's configuration. Fractions of a second are allowed. */
export interface BridgeConfig {
  /** A registration lapses after this long without a call or an open stream of its holder; 0: never. */
  readonly registrationTtlSeconds: number;
  /** Seen within this: online; within `offlineSeconds`: disconnected; later: offline. */
  readonly onlineSeconds: number;
  readonly offlineSeconds: number;
  /** Offline for longer: not listed any more. */
  readonly hiddenSeconds: number;
  /** How often the seen times of environments are written, and how often a live stream's lease is. */
  readonly presenceWriteSeconds: number;
  readonly leaseWriteSeconds: number;
  /** From delivery to acknowledgement; then the item goes back to the queue, at the last delivery to `dead`. */
  readonly ackSeconds: number;
  readonly maxDeliveries: number;
  /** Running work without a frame on its stream for this long is lost ... */
  readonly runLeaseSeconds: number;
  /** ... and without a first stream for this long; the environment's polls renew it. */
  readonly firstAttachSeconds: number;
  /** Attempts in all, the first included. */
  readonly maxAttempts: number;
  /** A graceful stop that the worker never confirmed ends after this long. */
  readonly stopConfirmSeconds: number;
  /** What every lease gets when the service starts, or its host wakes, because nobody could renew it meanwhile. */
  readonly restartGraceSeconds: number;
  readonly idempotencySeconds: number;
  /** The service pings a worker this often and drops it after `idleSeconds` without a frame. */
  readonly pingSeconds: number;
  readonly idleSeconds: number;
  /** A worker is told this long before its token expires, and closed this long after. */
  readonly tokenNoticeSeconds: number;
  readonly tokenGraceSeconds: number;
  /** A reader that took nothing for this long is closed. */
  readonly slowReaderSeconds: number;
  /** Unsent bytes of a socket: no more is sent above `sendHighBytes`, and again below `sendLowBytes`. */
  readonly sendHighBytes: number;
  readonly sendLowBytes: number;
  readonly inboundEventsPerSecond: number;
  /** Over how long a draining service spreads the end of its streams. */
  readonly drainSpreadSeconds: number;
  /** Events of one read of the log, and bytes of their data. */
  readonly pageEvents: number;
  readonly pageBytes: number;
  /** The engine's one timer: held polls, leases, pings. */
  readonly tickSeconds: number;
  readonly sweepSeconds: number;
  /** Of one organization, 0: any number. At the limit it gets no new session, and no event but its workers'. */
  readonly maxLiveSessions: number;
  readonly maxLogBytes: number;
  /** Event data of one session, 0: any amount. What is over goes at the log's old end. */
  readonly maxSessionLogBytes: number;
  /** Events that are older, and sessions that ended longer ago, are removed; 0: never. */
  readonly logRetentionSeconds: number;
  readonly retentionSweepSeconds: number;
}

export const defaultBridgeConfig: BridgeConfig = {
  registrationTtlSeconds: 45,
  onlineSeconds: 45,
  offlineSeconds: 300,
  hiddenSeconds: 7 * 24 * 3600,
  presenceWriteSeconds: 5,
  leaseWriteSeconds: 15,
  ackSeconds: 10,
  maxDeliveries: 5,
  runLeaseSeconds: 60,
  firstAttachSeconds: 300,
  maxAttempts: 3,
  stopConfirmSeconds: 60,
  restartGraceSeconds: 60,
  idempotencySeconds: 24 * 3600,
  pingSeconds: 20,
  idleSeconds: 45,
  tokenNoticeSeconds: 300,
  tokenGraceSeconds: 60,
  slowReaderSeconds: 30,
  sendHighBytes: 1024 * 1024,
  sendLowBytes: 256 * 1024,
  inboundEventsPerSecond: 200,
  drainSpreadSeconds: 10,
  pageEvents: 200,
  pageBytes: 256 * 1024,
  tickSeconds: 0.25,
  sweepSeconds: 1,
  maxLiveSessions: 0,
  maxLogBytes: 0,
  maxSessionLogBytes: 0,
  logRetentionSeconds: 0,
  retentionSweepSeconds: 300,
};

/** What the judgements of work need to know, in milliseconds: goes into the store's acts with each call. */
export interface WorkTerms {
  readonly ackMs: number;
  readonly firstAttachMs: number;
  readonly leaseMs: number;
  readonly stopMs: number;
  /** An open stream without a frame for this long is not alive. */
  readonly liveMs: number;
  readonly maxDeliveries: number;
  readonly maxAttempts: number;
  readonly quota: Quota;
  /** Of one session; 0: any amount. */
  readonly maxSessionLogBytes: number;
}

export function workTerms(config: BridgeConfig): WorkTerms {
  return {
    ackMs: config.ackSeconds * 1000,
    firstAttachMs: config.firstAttachSeconds * 1000,
    leaseMs: config.runLeaseSeconds * 1000,
    stopMs: config.stopConfirmSeconds * 1000,
    liveMs: config.idleSeconds * 1000,
    maxDeliveries: config.maxDeliveries,
    maxAttempts: config.maxAttempts,
    quota: { liveSessions: config.maxLiveSessions, logBytes: config.maxLogBytes },
    maxSessionLogBytes: config.maxSessionLogBytes,
  };
}
