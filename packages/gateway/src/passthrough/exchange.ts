import type { Duplex } from 'node:stream';
import { ServiceError, type Timer } from '@sallyport/core';
import { MalformedRequest, type AnswerHandler, type AnswerHead, type Control } from '@sallyport/core/http1';
import type { OpenStream } from '../http/drain.ts';
import { whenEnded, type EndListener } from '../http/ending.ts';
import { Answer, type Surroundings } from './answer.ts';
import { Attempts } from './attempts.ts';
import { breakerOpen, malformed, noneFree, timedOut, tooSlow, unreachable } from './failures.ts';
import { trailersOf } from './headers.ts';
import type { Outbound } from './outbound.ts';
import type { Passing } from './passing.ts';
import { Upload } from './upload.ts';

/**
 * Takes a request to its upstream and the answer back: headers as soon as they come, bodies with the back-pressure of the
 * slower side. Whoever hangs up ends the other side too.
 */
export class Exchange implements AnswerHandler, EndListener {
  readonly #passing: Passing;
  readonly #outbound: Outbound;
  readonly #around: Surroundings;
  readonly #answer: Answer;
  readonly #attempts: Attempts;
  #headers: string[];
  #control: Control | undefined;
  #timer: Timer | undefined;
  #sentAt = 0;
  /** The answer at hand is about a credential that is being renewed. */
  #discards = false;
  /** The caller has hung up, or has been told that there is no answer: nobody waits for one. */
  #gone = false;
  /** What the drain has of it. */
  #stream: OpenStream | undefined;

  constructor(passing: Passing, outbound: Outbound, around: Surroundings) {
    this.#passing = passing;
    this.#outbound = outbound;
    this.#around = around;
    this.#headers = outbound.headers;
    this.#answer = new Answer(passing, around, outbound.meter);
    this.#attempts = new Attempts(outbound);
  }

  start(): void {
    const { response } = this.#passing;
    // The caller may have gone while it was asked who it is.
    if (response.closed) return;
    this.#outbound.upstream.retries.began();
    whenEnded(response, this);
    if (this.#outbound.isHeld)
      this.#enterDrain(() =>
        this.#giveUp(new ServiceError('draining', 'The gateway is shutting down.', { retryAfterMs: 1000 })),
      );
    if (!this.#gone) this.#send();
  }

  #send(): void {
    const { upstream, path, body, headersMs, idleMs, trailers, upgrade } = this.#outbound;
    const waitMs = upstream.breaker.admit();
    if (waitMs > 0) return this.#refuse(breakerOpen(upstream.origin, waitMs));
    this.#attempts.begin();
    this.#sentAt = this.#around.clock.monotonic();
    this.#await(body instanceof Upload ? Math.max(headersMs, idleMs) : headersMs);
    const { method = 'GET' } = this.#passing.raw;
    const headers = this.#headers;
    const upgrades = upgrade !== undefined;
    try {
      this.#control = upstream.dispatch(
        { method, path: upstream.basePath + path, headers, body, trailers, idleMs, upgrades },
        this,
      );
    } catch (error) {
      this.failed(error as Error);
    }
  }

  #await(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#around.clock.after(ms, () => {
      const { upstream, body } = this.#outbound;
      if (this.#control?.waitsItsTurn === true) return this.#giveUp(noneFree(upstream.origin));
      if (body instanceof Upload && body.waitsForCaller) return this.#giveUp(tooSlow());
      const error = timedOut(upstream.origin);
      upstream.breaker.failed(error);
      this.#giveUp(error);
    });
  }

  /** Tells the caller that there will be no answer, and the upstream that none is wanted. */
  #giveUp(error: ServiceError): void {
    if (this.#answer.begun || this.#gone || this.#answer.ended) return;
    this.#outbound.upstream.breaker.released();
    this.#refuse(error);
    this.#control?.abort(error);
  }

  /** The caller's answer is out, or its connection is gone. */
  ended(): void {
    const { upstream, body, meter } = this.#outbound;
    this.#timer?.cancel();
    this.#leaveDrain();
    upstream.retries.ended(this.#attempts.hasRetried);
    if (body instanceof Upload) meter.receivedBytes += body.bytes;
    if (this.#answer.ended || this.#gone) return;
    this.#gone = true;
    upstream.breaker.released();
    this.#control?.abort(new Error('The caller hung up.'));
    if (body instanceof Upload) body.destroy();
  }

  #enterDrain(end: () => void): void {
    this.#stream = { end, terminate: () => this.#answer.cut() };
    this.#around.drain.add(this.#stream);
  }

  #leaveDrain(): void {
    if (this.#stream) this.#around.drain.remove(this.#stream);
  }

  began(): void {
    this.#attempts.underWay();
  }

  uploaded(): void {
    if (this.#outbound.body instanceof Upload && !this.#answer.begun) this.#await(this.#outbound.idleMs);
  }

  sent(): void {
    if (this.#outbound.body instanceof Upload && !this.#answer.begun) this.#await(this.#outbound.headersMs);
  }

  head({ status, reason, headers }: AnswerHead): void {
    if (this.#gone) return;
    this.#answered();
    this.#discards = status === 401 && this.#attempts.mayRenew();
    if (this.#discards) return;
    const { inspect, isEndless } = this.#outbound;
    const isEventStream = this.#answer.begin(status, reason, headers, inspect);
    if (!this.#answer.begun) return this.#await(this.#outbound.idleMs);
    this.#leaveDrain();
    if (isEventStream && isEndless) this.#enterDrain(() => this.#end());
  }

  data(chunk: Buffer): void {
    if (this.#gone || this.#answer.ended || this.#discards || this.#control === undefined) return;
    this.#answer.data(this.#control, chunk);
  }

  flush(): void {
    if (this.#answer.begun) this.#answer.flushHeaders();
  }

  end(trailers: readonly string[]): void {
    if (this.#gone) return;
    if (this.#discards) return void this.#renew();
    try {
      this.#timer?.cancel();
      this.#answer.end(trailersOf(trailers));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return this.#refuse(error);
    }
    // The upstream has said all before it has heard all: what still comes is for nobody.
    if (!this.#passing.raw.complete) this.#answer.hangUpSoon();
    // Begun before the drain, the answer has not told its caller to hang up.
    else if (this.#around.drain.draining) this.#answer.hangUp();
  }

  failed(error: Error): void {
    if (this.#gone || this.#answer.ended) return;
    this.#timer?.cancel();
    if (this.#answer.begun) {
      this.#passing.log.warn({ err: error }, 'the upstream broke off its answer');
      return this.#answer.cut();
    }
    // The upload's own: it broke off, or was too large.
    if (error instanceof ServiceError) return this.#giveUp(error);
    if (error instanceof MalformedRequest) return this.#giveUp(malformed(error));
    // A request counts once, however often it was sent: two of them would else open the breaker while an upstream restarts.
    if (!this.#attempts.mayRetry()) {
      this.#outbound.upstream.breaker.failed(error);
      return this.#refuse(unreachable(this.#outbound.upstream.origin, error));
    }
    this.#attempts.retry();
    this.#send();
  }

  switched({ headers }: AnswerHead, socket: Duplex): void {
    // From the first tick: an ECONNRESET without a listener would end the process.
    socket.on('error', () => socket.destroy());
    if (this.#gone) return void socket.destroy();
    this.#answered();
    this.#answer.leave();
    this.#outbound.upgrade?.(headers, socket);
  }

  #answered(): void {
    this.#timer?.cancel();
    const { upstream, meter } = this.#outbound;
    upstream.breaker.succeeded();
    meter.upstreamSeconds.observe((this.#around.clock.monotonic() - this.#sentAt) / 1000);
  }

  async #renew(): Promise<void> {
    this.#attempts.renew();
    this.#discards = false;
    const { renew, upstream } = this.#outbound;
    try {
      this.#headers = (await renew?.()) ?? this.#headers;
    } catch (error) {
      const told = error instanceof ServiceError ? error : unreachable(upstream.origin, error as Error);
      return this.#giveUp(told);
    }
    if (!this.#gone) this.#send();
  }

  /** Ends an endless stream well: its reader takes it up elsewhere. */
  #end(): void {
    if (this.#answer.ended) return;
    this.#answer.close();
    this.#control?.abort(new Error('The gateway drains.'));
  }

  #refuse(error: ServiceError): void {
    this.#timer?.cancel();
    this.#gone = true;
    const { body } = this.#outbound;
    if (body instanceof Upload) body.destroy();
    this.#answer.refuse(error);
  }
}
