import type { Quota } from './quota.ts';

/** How the bridge keeps time and bounds: `bridge.*` of the gateway's configuration. Fractions of a second are allowed. */
export interface BridgeConfig {
  /** A registration lapses after this long without a call or an open stream of its holder; 0: never. */
  readonly registrationTtlSeconds: number;
  /** An environment that was seen within this time is online. */
  readonly onlineSeconds: number;
  /** One that was not seen for longer than this is offline; before that it is disconnected. */
  readonly offlineSeconds: number;
  /** An environment that was not seen for longer is not listed any more. */
  readonly hiddenSeconds: number;
  /** How often the seen times of environments are written. */
  readonly presenceWriteSeconds: number;
  /** How often a live stream's lease is written. */
  readonly leaseWriteSeconds: number;
  /** How long delivered work may stay unacknowledged; then it goes back to the queue, at the last delivery to `dead`. */
  readonly ackSeconds: number;
  /** How often work is delivered that nobody acknowledges. */
  readonly maxDeliveries: number;
  /** Running work without a frame on its stream for this long is lost. */
  readonly runLeaseSeconds: number;
  /** Running work that never had a stream is lost after this long; the environment's polls renew it. */
  readonly firstAttachSeconds: number;
  /** Attempts at one item of work in all, the first included. */
  readonly maxAttempts: number;
  /** A graceful stop that the worker never confirmed ends after this long. */
  readonly stopConfirmSeconds: number;
  /** What every lease gets when the service starts, or its host wakes, because nobody could renew it meanwhile. */
  readonly restartGraceSeconds: number;
  /** How long a repeated `Idempotency-Key` gives what was made before. */
  readonly idempotencySeconds: number;
  /** How often workers are pinged. */
  readonly pingSeconds: number;
  /** A worker's socket without a frame for this long is dropped. */
  readonly idleSeconds: number;
  /** How long before its token expires a worker is told. */
  readonly tokenNoticeSeconds: number;
  /** How long after its token has expired a worker is closed. */
  readonly tokenGraceSeconds: number;
  /** A reader that took nothing for this long is closed. */
  readonly slowReaderSeconds: number;
  /** Above so many unsent bytes a socket gets no more for now. */
  readonly sendHighBytes: number;
  /** Below so many unsent bytes it gets more again. */
  readonly sendLowBytes: number;
  /** Events that one worker may send a second. */
  readonly inboundEventsPerSecond: number;
  /** Over how long a draining service spreads the end of its streams. */
  readonly drainSpreadSeconds: number;
  /** Events of one read of a session's log. */
  readonly pageEvents: number;
  /** Bytes of event data of one read of a session's log. */
  readonly pageBytes: number;
  /** The engine's one timer: held polls, leases, pings. */
  readonly tickSeconds: number;
  /** How often leases and deadlines are looked through. */
  readonly sweepSeconds: number;
  /** Live sessions of one organization; at the limit it gets no new one. 0: any number. */
  readonly maxLiveSessions: number;
  /** Event data of one organization; at the limit it gets no new session, and no event but its workers'. 0: any amount. */
  readonly maxLogBytes: number;
  /** Event data of one session, 0: any amount. What is over goes at the log's old end. */
  readonly maxSessionLogBytes: number;
  /** Events that are older, and sessions that ended longer ago, are removed; 0: never. */
  readonly logRetentionSeconds: number;
  /** How often old events and sessions are looked for. */
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
