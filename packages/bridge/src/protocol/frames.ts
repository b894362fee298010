import type { SessionEvent } from '@sallyport/core/contract';

/**
 * What worker and service say over step 3 of the handshake: JSON text frames. Events have an `id`; frames without one are
 * of the moment, never stored and never resumed.
 */

/** An event that the worker reports; it is resent after a reconnect until the service has acknowledged it. */
export interface WorkerEvent {
  /** The sender's, unique in its session: the dedupe key. */
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export type WorkerFrame =
  | WorkerEvent
  /** Takes all inbound events up to `seq`, cumulatively. */
  | { readonly type: 'ack'; readonly seq: number }
  | { readonly type: 'worker.heartbeat' }
  /** A fresh JWT of the same epoch: the socket's expiry moves. */
  | { readonly type: 'auth'; readonly token: string };

export type ServiceFrame =
  | SessionEvent
  /** The event with that id is durable as `seq`; in the order in which the worker sent them. */
  | { readonly type: 'ack'; readonly id: string; readonly seq: number }
  /** The backlog is through, up to `seq`. */
  | { readonly type: 'caught_up'; readonly seq: number }
  /** The place asked for is not in the log: the stream goes on from `oldest_seq`. */
  | { readonly type: 'resync_required'; readonly oldest_seq: number }
  | { readonly type: 'token_expiring'; readonly expires_at: string }
  | { readonly type: 'draining'; readonly reconnect_in_ms: number }
  | { readonly type: 'error'; readonly error: string; readonly error_description: string };

/** Frame types that are of the stream itself; an event may not have one of them. */
export const streamFrameTypes = [
  'ack',
  'auth',
  'caught_up',
  'resync_required',
  'token_expiring',
  'draining',
  'error',
  'worker.heartbeat',
] as const;

/** WebSocket close codes of ours (RFC 6455 7.4.2 leaves 4000 to 4999 to applications). */
export const closeCodes = {
  /** RFC 6455: it is over, as it should be. */
  normal: 1000,
  /** RFC 6455: the service restarts; come back. */
  serviceRestart: 1012,
  tooBig: 1009,
  invalidPayload: 1007,
  /** The token expired on the live socket. */
  tokenExpired: 4401,
  /** The token or the right to be here was revoked. */
  revoked: 4403,
  /** The reader stood still for too long. */
  slowConsumer: 4408,
  /** A newer epoch took the session over. */
  staleEpoch: 4090,
  /** The session or the environment is gone. */
  gone: 4410,
} as const;

/** The longest frame either side takes, in bytes of UTF-8. */
export const maxFrameBytes = 1024 * 1024;
