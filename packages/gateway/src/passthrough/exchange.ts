import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ServiceError, type Clock, type Timer } from '@sallyport/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Dispatcher } from 'undici';
import type { Drain } from '../http/drain.ts';
import { lingerOnClose } from '../http/linger.ts';
import { responseHeaders, trailersOf } from './headers.ts';
import { Upload } from './upload.ts';
import type { Upstream } from './upstreams.ts';

/** One request, ready for its upstream. */
export interface Outbound {
  readonly upstream: Upstream;
  readonly path: string;
  readonly headers: string[];
  readonly body: Buffer | Upload | null;
  /** How long the answer may take to begin, from when the request is with the upstream. */
  readonly headersMs: number;
  /** How long it may pause, and the upload too. */
  readonly idleMs: number;
  /** Whether it may be sent again although it may have arrived. */
  readonly isSafe: boolean;
  /** Whether the answer is a stream without an end, which its reader takes up elsewhere when the gateway drains. */
  readonly isEndless: boolean;
  /** Whether the caller asks for the answer to be held back until there is something to say. */
  readonly isHeld: boolean;
  /** Takes the connection once the upstream has switched protocols. */
  readonly upgrade?: (raw: readonly (Buffer | string)[], socket: Duplex) => void;
}

export interface Surroundings {
  readonly clock: Clock;
  readonly drain: Drain;
}

const maxRetries = 2;
/** Bodies up to this long are worth a copy. */
const smallBytes = 8 * 1024;
/** What Node sends as a reason (RFC 9112 4); undici reads it as UTF-8. */
const sendable = /^[\t\x20-\x7e\x80-\xff]*$/;
const flushHeaders = (exchange: Exchange) => exchange.flushHeaders();

/**
 * Takes a request to its upstream and the answer back: headers as soon as they come, bodies with the back-pressure of the
 * slower side. Whoever hangs up ends the other side too. Once the answer has begun, Fastify is out of it.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #raw: ServerResponse;
  readonly #outbound: Outbound;
  readonly #around: Surroundings;
  #controller: Dispatcher.DispatchController | undefined;
  #timer: Timer | undefined;
  #attempts = 0;
  #length: number | undefined;
  /** The caller has hung up, or has been told that there is no answer: nobody waits for one. */
  #gone = false;
  #begun = false;
  #isFlushed = false;
  #ended = false;
  #leaveDrain: (() => void) | undefined;

  constructor(request: FastifyRequest, reply: FastifyReply, outbound: Outbound, around: Surroundings) {
    this.#request = request;
    this.#reply = reply;
    this.#raw = reply.raw;
    this.#outbound = outbound;
    this.#around = around;
  }

  start(): void {
    // The caller may have gone while it was asked who it is.
    if (this.#raw.closed) return;
    this.#outbound.upstream.retries.began();
    this.#raw.once('close', this.#onClose);
    if (this.#outbound.isHeld)
      this.#leaveDrain = this.#around.drain.add({
        end: () =>
          this.#giveUp(new ServiceError('draining', 'The gateway is shutting down.', { retryAfterMs: 1000 })),
        terminate: () => this.#raw.destroy(),
      });
    if (!this.#gone) this.#send();
  }

  #send(): void {
    const { upstream, path, headers, body, headersMs, idleMs, upgrade } = this.#outbound;
    const waitMs = upstream.breaker.admit();
    if (waitMs > 0) return this.#refuse(unreachable(undefined, waitMs));
    this.#controller = undefined;
    this.#await(body instanceof Upload ? Math.max(headersMs, idleMs) : headersMs);
    upstream.dispatch(
      {
        path: upstream.basePath + path,
        method: this.#request.method,
        headers,
        body,
        ...(upgrade && { upgrade: 'websocket' }),
        // Undici's begins while the body is on its way.
        headersTimeout: 0,
        bodyTimeout: idleMs,
      },
      this,
    );
  }

  #await(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#around.clock.after(ms, () => {
      const { upstream, body } = this.#outbound;
      if (body instanceof Upload && body.waitsForCaller) return this.#giveUp(tooSlow());
      upstream.breaker.failed();
      this.#giveUp(
        new ServiceError('upstream_timeout', 'The upstream did not answer in time; try again later.'),
      );
    });
  }

  /** Tells the caller that there will be no answer, and the upstream that none is wanted. */
  #giveUp(error: ServiceError): void {
    if (this.#begun || this.#gone || this.#ended) return;
    this.#outbound.upstream.breaker.released();
    this.#refuse(error);
    this.#controller?.abort(error);
  }

  readonly #onClose = () => {
    const { upstream, body } = this.#outbound;
    this.#timer?.cancel();
    this.#leaveDrain?.();
    upstream.retries.ended(this.#attempts > 0);
    if (this.#ended || this.#gone) return;
    this.#gone = true;
    upstream.breaker.released();
    this.#controller?.abort(new Error('The caller hung up.'));
    if (body instanceof Upload) body.destroy();
  };

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#gone) controller.abort(new Error('Nobody waits for the answer.'));
  }

  onBodySent(): void {
    if (this.#outbound.body instanceof Upload && !this.#begun) this.#await(this.#outbound.idleMs);
  }

  onRequestSent(): void {
    if (this.#outbound.body instanceof Upload && !this.#begun) this.#await(this.#outbound.headersMs);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    statusMessage?: string,
  ): void {
    if (status < 200 || this.#gone) return;
    this.#answered();
    const raw = this.#raw;
    const { list, length, isEventStream } = responseHeaders(rawOf(controller.rawHeaders), this.#request.id);
    if (this.#around.drain.draining) list.push('connection', 'close');
    raw.writeHead(status, sendable.test(statusMessage ?? '') ? statusMessage : undefined, list);
    this.#reply.hijack();
    this.#begun = true;
    const hasBody = this.#request.method !== 'HEAD' && status !== 204 && status !== 304;
    if (!hasBody) return;
    this.#length = length;
    this.#leaveDrain?.();
    if (isEventStream && this.#outbound.isEndless)
      this.#leaveDrain = this.#around.drain.add({ end: () => this.#end(), terminate: () => raw.destroy() });
    if (isEventStream || length === undefined) this.flushHeaders();
    // What comes in one piece goes out in one piece; else the headers wait for nothing.
    else process.nextTick(flushHeaders, this);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#gone || this.#ended) return;
    const raw = this.#raw;
    this.#isFlushed = true;
    if (chunk.length === this.#length) {
      this.#ended = true;
      // Node joins a head and a string to one write; for a buffer it makes two of them.
      if (chunk.length <= smallBytes) raw.end(chunk.toString('latin1'), 'latin1');
      else raw.end(chunk);
    } else if (!raw.write(chunk)) {
      controller.pause();
      raw.once('drain', () => controller.resume());
    }
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (this.#gone) return;
    if (!this.#ended) {
      this.#ended = true;
      const trailers = trailersOf(rawOf(controller.rawTrailers));
      if (trailers.length > 0) this.#raw.addTrailers(trailers);
      this.#raw.end();
    }
    // The upstream has said all before it has heard all: what still comes is for nobody.
    if (!this.#request.raw.complete) this.#hangUpSoon();
    // Begun before the drain, the answer has not told its caller to hang up.
    else if (this.#around.drain.draining) this.#hangUp();
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#gone || this.#ended) return;
    this.#timer?.cancel();
    if (this.#begun) {
      this.#request.log.warn({ err: error }, 'the upstream broke off its answer');
      return void this.#raw.destroy();
    }
    // The upload's own: it broke off, or was too large.
    if (error instanceof ServiceError) return this.#giveUp(error);
    if (codeOf(error) === 'UND_ERR_INVALID_ARG') return this.#giveUp(malformed(error));
    this.#outbound.upstream.breaker.failed();
    if (!this.#mayRetry()) return this.#refuse(unreachable(error));
    this.#attempts++;
    this.#send();
  }

  onRequestUpgrade(
    controller: Dispatcher.DispatchController,
    _status: number,
    _headers: unknown,
    socket: Duplex,
  ): void {
    // From the first tick: an ECONNRESET without a listener would end the process.
    socket.on('error', () => socket.destroy());
    if (this.#gone) return void socket.destroy();
    this.#answered();
    this.#ended = true;
    this.#reply.hijack();
    this.#outbound.upgrade?.(rawOf(controller.rawHeaders), socket);
  }

  /** Sends the headers, where no part of the body has taken them along. */
  flushHeaders(): void {
    if (this.#isFlushed || this.#ended) return;
    this.#isFlushed = true;
    this.#raw.flushHeaders();
  }

  #answered(): void {
    this.#timer?.cancel();
    this.#outbound.upstream.breaker.succeeded();
  }

  #mayRetry(): boolean {
    const { body, isSafe, upstream } = this.#outbound;
    if (body instanceof Upload || this.#attempts >= maxRetries) return false;
    const isUnsent = this.#controller === undefined;
    if (!isUnsent && !(isSafe && body === null)) return false;
    return this.#attempts > 0 || upstream.retries.take();
  }

  /** Ends an endless stream well: its reader takes it up elsewhere. */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#raw.end();
    this.#controller?.abort(new Error('The gateway drains.'));
  }

  #refuse(error: ServiceError): void {
    this.#timer?.cancel();
    this.#gone = true;
    const { body } = this.#outbound;
    if (body instanceof Upload) body.destroy();
    if (!this.#request.raw.complete) {
      this.#reply.header('connection', 'close');
      this.#hangUpSoon();
    }
    this.#reply.send(error);
  }

  /** The connection ends with its answer, which is not lost because the caller still sends. */
  #hangUpSoon(): void {
    const { raw } = this.#request;
    raw.on('error', () => undefined).resume();
    this.#raw.shouldKeepAlive = false;
    lingerOnClose(raw.socket);
    if (this.#begun) this.#hangUp();
  }

  #hangUp(): void {
    const { socket } = this.#request.raw;
    if (this.#raw.writableFinished) socket.destroySoon();
    else this.#raw.once('finish', () => socket.destroySoon());
  }
}

function unreachable(cause?: Error, retryAfterMs?: number): ServiceError {
  return new ServiceError('upstream_unreachable', 'The upstream cannot be reached; try again later.', {
    ...(cause && { cause }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function malformed(cause: Error): ServiceError {
  const description = 'The request cannot be passed on: its path or a header is malformed.';
  return new ServiceError('invalid_request', description, { cause });
}

function tooSlow(): ServiceError {
  return new ServiceError('invalid_request', 'The request did not arrive in time.', { status: 408 });
}

function rawOf(headers: Dispatcher.DispatchController['rawHeaders']): readonly (Buffer | string)[] {
  return Array.isArray(headers) ? headers : [];
}

function codeOf(error: Error): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
