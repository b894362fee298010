import type { ServerResponse } from 'node:http';
import type { ServiceError } from '@sallyport/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Dispatcher } from 'undici';
import type { Drain } from '../http/drain.ts';
import { lingerOnClose } from '../http/linger.ts';
import type { Meter } from '../metrics/traffic.ts';
import { responseHeaders, withBody } from './headers.ts';
import { Copy, type Inspect, type Inspection } from './inspection.ts';

type RawHeaders = readonly (Buffer | string)[];

/** Bodies up to this long are worth a copy. */
const smallBytes = 8 * 1024;
/** What may wait for a slow caller. Twice what one read brings: Node's own mark stops the upstream at every full read. */
const waitingBytes = 128 * 1024;
/** What Node sends as a reason (RFC 9112 4); undici reads it as UTF-8. */
const sendable = /^[\t\x20-\x7e\x80-\xff]*$/;
const flushHeaders = (answer: Answer) => answer.flushHeaders();

interface Head {
  readonly status: number;
  readonly reason: string | undefined;
  readonly list: readonly string[];
}

/** The caller's side of an exchange: once the answer has begun, Fastify is out of it. */
export class Answer {
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #raw: ServerResponse;
  readonly #drain: Drain;
  readonly #meter: Meter;
  #length: number | undefined;
  #isFlushed = false;
  #inspection: Inspection | undefined;
  #copy: Copy | undefined;
  #held: Head | undefined;
  /** The caller has the head. */
  begun = false;
  /** The caller has all of it. */
  ended = false;

  constructor(request: FastifyRequest, reply: FastifyReply, drain: Drain, meter: Meter) {
    this.#request = request;
    this.#reply = reply;
    this.#raw = reply.raw;
    this.#drain = drain;
    this.#meter = meter;
  }

  /** Takes an answer's head. Gives whether an event stream follows. */
  begin(status: number, reason: string | undefined, raw: RawHeaders, inspect: Inspect | undefined): boolean {
    const head = responseHeaders(raw, this.#request.id);
    const hasBody = this.#request.method !== 'HEAD' && status !== 204 && status !== 304;
    if (hasBody && !head.isEventStream) this.#inspection = inspect?.(status, head);
    if (this.#inspection) this.#copy = new Copy();
    if (this.#inspection?.holds === true) {
      this.#held = { status, reason, list: head.list };
      return false;
    }
    this.#write({ status, reason, list: head.list });
    if (!hasBody) return false;
    this.#length = head.length;
    if (head.isEventStream || head.length === undefined) this.flushHeaders();
    // What comes in one piece goes out in one piece; else the headers wait for nothing.
    else process.nextTick(flushHeaders, this);
    return head.isEventStream;
  }

  data(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // Undici gives one when it goes on after a pause, and Node would write it.
    if (chunk.length === 0) return;
    this.#meter.sentBytes += chunk.length;
    this.#copy?.add(chunk);
    if (this.#held === undefined) this.#pass(controller, chunk);
  }

  /** Throws the `ServiceError` of an answer that must not go on. */
  end(trailers: readonly [string, string][]): void {
    if (this.#held) return this.#release(this.#held);
    if (!this.ended) {
      this.ended = true;
      if (trailers.length > 0) this.#raw.addTrailers([...trailers]);
      this.#raw.end();
    }
    this.#inspection?.look(this.#copy?.take());
  }

  /** Says that the answer is no longer that of Fastify: protocols are switched. */
  leave(): void {
    this.ended = true;
    this.#reply.hijack();
  }

  /** Ends a stream that has no end of its own. */
  close(): void {
    this.ended = true;
    this.#raw.end();
  }

  cut(): void {
    this.#raw.destroy();
  }

  refuse(error: ServiceError): void {
    if (!this.#request.raw.complete) {
      this.#reply.header('connection', 'close');
      this.hangUpSoon();
    }
    this.#reply.send(error);
  }

  /** Sends the headers, where no part of the body has taken them along. */
  flushHeaders(): void {
    if (this.#isFlushed || this.ended) return;
    this.#isFlushed = true;
    // Node's own `flushHeaders` writes them as UTF-8: bytes beyond ASCII would come out as two.
    this.#raw.write('', 'latin1');
  }

  /** The connection ends with its answer, which is not lost because the caller still sends. */
  hangUpSoon(): void {
    const { raw } = this.#request;
    raw.on('error', () => undefined).resume();
    this.#raw.shouldKeepAlive = false;
    lingerOnClose(raw.socket);
    if (this.begun) this.hangUp();
  }

  hangUp(): void {
    const { socket } = this.#request.raw;
    if (this.#raw.writableFinished) socket.destroySoon();
    else this.#raw.once('finish', () => socket.destroySoon());
  }

  #write({ status, reason, list }: Head): void {
    const headers = this.#drain.draining ? [...list, 'connection', 'close'] : list;
    this.#raw.writeHead(status, sendable.test(reason ?? '') ? reason : undefined, headers as string[]);
    this.#reply.hijack();
    this.begun = true;
  }

  #pass(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const raw = this.#raw;
    this.#isFlushed = true;
    if (chunk.length === this.#length) {
      this.ended = true;
      // Node joins a head and a string to one write; for a buffer it makes two of them.
      if (chunk.length <= smallBytes) raw.end(chunk.toString('latin1'), 'latin1');
      else raw.end(chunk);
    } else {
      raw.write(chunk);
      if (raw.writableLength < waitingBytes) return;
      controller.pause();
      raw.once('drain', () => controller.resume());
    }
  }

  #release(head: Head): void {
    const body = this.#copy?.take();
    const sent = this.#inspection?.look(body) ?? body ?? Buffer.alloc(0);
    this.#held = undefined;
    this.ended = true;
    this.#write({ ...head, list: withBody(head.list, sent, sent !== body) });
    this.#raw.end(sent);
  }
}
