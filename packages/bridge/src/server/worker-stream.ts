import { ServiceError, toTimestamp, type GrantListener } from '@sallyport/core';
import { closeCodes, type WorkerEvent } from '../protocol/frames.ts';
import { placeInLog, type ResumeFrom } from '../protocol/resume.ts';
import { readWorkerFrame } from '../protocol/worker-frame.ts';
import { Coalesced } from './coalesced.ts';
import { timing, type Context } from './context.ts';
import { Inbox, type EventLog } from './inbox.ts';
import { Outbound } from './outbound.ts';
import type { Renewal, WorkerAttached } from './acts.ts';
import type { WorkerClaims, WorkerTokens } from './ports.ts';
import type { SocketListener, StreamSocket } from './stream-socket.ts';
import { isFinal } from './states.ts';
import { SignsOfLife } from './signs-of-life.ts';
import { TokenTerm } from './token-term.ts';
import { sessionTopic } from './topics.ts';

/** Bad frames that a worker may send before it is closed. */
const badFramesAllowed = 2;

export interface WorkerStreamOptions {
  readonly context: Context;
  readonly workerTokens: WorkerTokens;
  readonly claims: WorkerClaims;
  readonly socket: StreamSocket;
  readonly log: WorkerAttached;
  readonly from: ResumeFrom;
  /** The `Grants.changes` at which the device of the claims was trusted. */
  readonly deviceSince: number;
  readonly onEnd: (stream: WorkerStream) => void;
}

/**
 * One worker's WebSocket: its events are appended in order and acknowledged once they are durable, the session's log goes
 * out to it, and every frame is a sign of life. Ends when a newer worker, a person or the clock says so.
 */
export class WorkerStream extends Coalesced implements SocketListener, EventLog, GrantListener {
  readonly life: SignsOfLife;
  readonly #term: TokenTerm;
  readonly #context: Context;
  readonly #socket: StreamSocket;
  /** There while events come in. */
  #inbox: Inbox | undefined;
  readonly #outbound: Outbound;
  readonly #stream: number;
  readonly #onEnd: (stream: WorkerStream) => void;

  /** The trusted device that it stands on. */
  #deviceId: string | undefined;
  #isOpen = true;
  #badFrames = 0;
  #bytesRead: number;
  #pingedAt: number;

  constructor({ context, workerTokens, claims, socket, log, from, deviceSince, onEnd }: WorkerStreamOptions) {
    super();
    const { clock, wakeups } = context;
    this.#term = new TokenTerm(context, workerTokens, claims);
    this.#context = context;
    this.#socket = socket;
    this.#bytesRead = socket.bytesRead;
    this.#stream = log.stream;
    this.#onEnd = onEnd;
    this.life = new SignsOfLife(context, claims, log.takenSeq);
    this.#pingedAt = clock.monotonic();

    const { after, isLost } = placeInLog(from, log, log.takenSeq);
    this.#outbound = new Outbound(context, claims.sessionId, socket, after, this);
    // Before the first read: what is appended between the two must wake.
    wakeups.subscribe(sessionTopic(claims.sessionId), this);
    this.#watchDevice(claims, deviceSince);
    socket.listen(this);
    if (isLost) this.#outbound.send({ type: 'resync_required', oldest_seq: log.oldestSeq });
    this.wake();
  }

  /** Pings, and ends what is silent, stuck or expired. */
  tick(): void {
    if (!this.#isOpen) return;
    const { clock, config } = this.#context;
    const monotonic = clock.monotonic();
    // A large frame on a slow line takes longer than a worker may be silent.
    if (this.#socket.bytesRead !== this.#bytesRead) this.pong();
    this.#inbox?.tick();
    if (this.#inbox?.isQuiet) this.#inbox = undefined;
    if (this.#outbound.isStuckFor(config.slowReaderSeconds * 1000))
      return this.close(closeCodes.slowConsumer, 'slow_consumer');
    // Who takes nothing hears no ping either, and is to be told why.
    if (this.life.isSilentFor(config.idleSeconds * 1000) && !this.#outbound.isSending)
      return this.terminate();
    if (monotonic - this.#pingedAt >= config.pingSeconds * 1000) {
      this.#pingedAt = monotonic;
      this.#socket.ping();
      // Another process may delete its session, or end its work, without a word to this one.
      this.wake();
    }
    const due = this.#term.due();
    if (due === 'expired') return this.close(closeCodes.tokenExpired, 'token_expired');
    if (due === 'expiring')
      this.#outbound.send({ type: 'token_expiring', expires_at: toTimestamp(this.claims.expiresAt) });
  }

  /** The last sign of life of a stream that ended: it decides when the lease runs out. */
  lastRenewal(): Renewal {
    return { ...this.life.last(), endedStream: this.#stream };
  }

  get claims(): WorkerClaims {
    return this.#term.claims;
  }

  announceDrain(reconnectInMs: number): void {
    this.#outbound.send({ type: 'draining', reconnect_in_ms: reconnectInMs });
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#socket.close(code, reason);
    this.closed();
  }

  /** Watches this device, or none, instead of the one before. `since`: as of a `Grants` watch. */
  #watchDevice({ deviceId }: Pick<WorkerClaims, 'deviceId'>, since?: number): void {
    if (deviceId === this.#deviceId) return;
    const { devices } = this.#context;
    if (this.#deviceId !== undefined) devices.unwatch(this.#deviceId, this);
    if (deviceId !== undefined) devices.watch(deviceId, this, since);
    this.#deviceId = deviceId;
  }

  /** Its machine is trusted no more. */
  revoked(): void {
    this.close(closeCodes.revoked, 'device_revoked');
  }

  /** Ends without a word: the other side is gone, or has opened another stream. */
  terminate(): void {
    if (!this.#isOpen) return;
    this.#socket.terminate();
    this.closed();
  }

  closed(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#outbound.close();
    this.#context.wakeups.unsubscribe(sessionTopic(this.claims.sessionId), this);
    this.#watchDevice({});
    this.#onEnd(this);
  }

  pong(): void {
    this.#bytesRead = this.#socket.bytesRead;
    this.life.heard();
  }

  message(text: string | undefined): void {
    if (!this.#isOpen) return;
    this.pong();
    const read =
      text === undefined ? { kind: 'bad' as const, reason: 'Frames are text.' } : readWorkerFrame(text);
    switch (read.kind) {
      case 'event':
        this.#inbox ??= new Inbox(this, this.#socket, this.#context);
        return this.#inbox.push(read.event, text?.length ?? 0);
      case 'frame':
        // What was never sent cannot have been taken.
        if (read.frame.type === 'ack') this.life.took(Math.min(read.frame.seq, this.#outbound.cursor));
        if (read.frame.type === 'auth') void this.#renewToken(read.frame.token);
        return;
      case 'bad':
        this.#outbound.send({ type: 'error', error: 'invalid_request', error_description: read.reason });
        if (++this.#badFrames > badFramesAllowed) this.close(closeCodes.invalidPayload, 'invalid_frames');
        return;
      case 'ignored':
        return;
    }
  }

  async #renewToken(token: string): Promise<void> {
    try {
      if ((await this.#term.renew(token)) && this.#isOpen) this.#watchDevice(this.claims);
    } catch (error) {
      if (!(error instanceof ServiceError))
        this.#context.log.error({ err: error }, 'A worker token check failed.');
      this.#outbound.send({
        type: 'error',
        error: 'invalid_token',
        error_description: 'The token does not hold here.',
      });
    }
  }

  /** Makes events durable, then acknowledges them. Rejects never: what fails ends the stream, and the worker resends. */
  append(events: readonly WorkerEvent[]): Promise<void> {
    return this.#guard('Events could not be appended.', () => this.#append(events));
  }

  async #append(events: readonly WorkerEvent[]): Promise<void> {
    const { store, wakeups } = this.#context;
    const { sessionId, epoch } = this.claims;
    try {
      const appended = await store.acts.appendEvents({
        sessionId,
        from: { epoch },
        events,
        ...timing(this.#context),
      });
      for (const { id, seq } of appended) this.#outbound.send({ type: 'ack', id, seq });
      wakeups.notify(sessionTopic(sessionId));
      if (appended.length < events.length) this.#refuseAfterEnd();
    } catch (error) {
      this.#inbox?.stop();
      if (!(error instanceof ServiceError) || error.status >= 500) throw error;
      // What has become of the session says it better.
      if (!(await this.#isSuperseded())) this.close(closeCodes.staleEpoch, error.code);
    }
  }

  /** What the store cannot do now ends the stream, and nothing else. */
  async #guard(failure: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#context.log.error({ err: error, session_id: this.claims.sessionId }, failure);
      this.close(closeCodes.serviceRestart, 'store_unavailable');
    }
  }

  #refuseAfterEnd(): void {
    this.#inbox?.stop();
    const error_description = 'The session has ended: it takes no further events.';
    this.#outbound.send({ type: 'error', error: 'session_ended', error_description });
    this.close(closeCodes.gone, 'session_ended');
  }

  /** Looks whether the stream may go on, then sends what the log has and the socket takes. */
  protected act(): Promise<void> {
    return this.#guard('A stream could not be read.', async () => {
      if (this.#isOpen && !(await this.#isSuperseded())) await this.#outbound.sendLog();
    });
  }

  #revoke(reason: string | null): void {
    if (reason !== 'log_full') return this.close(closeCodes.revoked, 'stopped');
    const error_description =
      'The session has ended: its log is full of events that its worker has not acknowledged.';
    this.#outbound.send({ type: 'error', error: 'session_ended', error_description });
    this.close(closeCodes.revoked, reason);
  }

  async #isSuperseded(): Promise<boolean> {
    const head = await this.#context.store.reads.sessionHead({ sessionId: this.claims.sessionId });
    if (!head || head.environmentGone) this.close(closeCodes.gone, 'gone');
    else if (head.epoch !== this.claims.epoch && isFinal(head.workState)) this.#revoke(head.workReason);
    else if (head.epoch !== this.claims.epoch) this.close(closeCodes.staleEpoch, 'stale_epoch');
    // A worker without a WebSocket posts its signs of life, to whatever replica.
    else if ((head.workerSeenAt ?? 0) > this.life.at) this.pong();
    return !this.#isOpen;
  }
}
