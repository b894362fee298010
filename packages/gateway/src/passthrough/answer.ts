import type { ServerResponse } from 'node:http';
import type { Clock, ServiceError } from '@sallyport/core';
import type { Control } from '@sallyport/core/http1';
import type { Drain } from '../http/drain.ts';
import { whenEnded } from '../http/ending.ts';
import { lingerOnClose } from '../http/linger.ts';
import { writeWhole } from '../http/whole-answer.ts';
import type { Meter } from '../metrics/traffic.ts';
import { responseHeaders, withBody, withoutLength, type ResponseHeaders } from './headers.ts';
import { Copy, type Inspect, type Inspection } from './inspection.ts';
import { comment, KeepAlive } from './keep-alive.ts';
import type { Passing } from './passing.ts';

/** Bodies up to this long are worth a copy. */
const smallBytes = 8 * 1024;
/** What may wait for a slow caller. Twice what one read brings: Node's own mark stops the upstream at every full read. */
const waitingBytes = 128 * 1024;

export interface Surroundings {
  readonly clock: Clock;
  readonly drain: Drain;
  /** How long an event stream may be silent before it gets a comment; 0: as long as it is. */
  readonly keepAliveMs: number;
}

interface Head {
  readonly status: number;
  readonly reason: string;
  readonly list: readonly string[];
}

/** The caller's side of an exchange: once the answer has begun, nobody else writes. */
export class Answer {
  readonly #passing: Passing;
  readonly #raw: ServerResponse;
  readonly #around: Surroundings;
  readonly #meter: Meter;
  #length: number | undefined;
  #inspection: Inspection | undefined;
  #copy: Copy | undefined;
  #keepAlive: KeepAlive | undefined;
  #held: Head | undefined;
  /** Not written yet: it goes out with what comes next. */
  #head: Head | undefined;
  /** The caller has the head, or will have it in a moment. */
  begun = false;
  /** The caller has all of it. */
  ended = false;

  constructor(passing: Passing, around: Surroundings, meter: Meter) {
    this.#passing = passing;
    this.#raw = passing.response;
    this.#around = around;
    this.#meter = meter;
  }

  /** Takes an answer's head. Gives whether an event stream follows. */
  begin(status: number, reason: string, raw: readonly string[], inspect: Inspect | undefined): boolean {
    const head = responseHeaders(raw, this.#passing.id);
    const hasBody = this.#passing.raw.method !== 'HEAD' && status !== 204 && status !== 304;
    if (hasBody && !head.isEventStream) this.#inspection = inspect?.(status, head);
    if (this.#inspection) this.#copy = new Copy();
    if (this.#inspection?.holds === true) {
      this.#held = { status, reason, list: head.list };
      return false;
    }
    this.#begin({ status, reason, list: status === 204 ? withoutLength(head.list) : head.list });
    if (!hasBody) return false;
    this.#length = head.length;
    if (head.isEventStream) this.#keep(head);
    return head.isEventStream;
  }

  data(control: Control, chunk: Buffer): void {
    this.#meter.sentBytes += chunk.length;
    this.#copy?.add(chunk);
    this.#keepAlive?.heard(chunk);
    if (this.#held === undefined) this.#pass(control, chunk);
  }

  /** Throws the `ServiceError` of an answer that must not go on. */
  end(trailers: readonly [string, string][]): void {
    if (this.#held) return this.#release(this.#held);
    if (!this.ended) {
      this.ended = true;
      this.#writeHead();
      if (trailers.length > 0) this.#raw.addTrailers([...trailers]);
      this.#raw.end();
    }
    this.#inspection?.look(this.#copy?.take());
  }

  /** Says that the answer is no longer that of Fastify: protocols are switched. */
  leave(): void {
    this.ended = true;
    this.#passing.taken();
  }

  /** Ends a stream that has no end of its own. */
  close(): void {
    this.ended = true;
    this.#writeHead();
    this.#raw.end();
  }

  cut(): void {
    this.#raw.destroy();
  }

  refuse(error: ServiceError): void {
    if (!this.#passing.raw.complete) {
      this.#raw.setHeader('connection', 'close');
      this.hangUpSoon();
    }
    this.#passing.refuse(error);
  }

  /** Sends the headers, where no part of the body has taken them along: what comes in one piece goes out in one piece. */
  flushHeaders(): void {
    if (this.#head === undefined || this.ended) return;
    this.#writeHead();
    // Node's own `flushHeaders` writes them as UTF-8: bytes beyond ASCII would come out as two.
    this.#raw.write('', 'latin1');
  }

  /** The connection ends with its answer, which is not lost because the caller still sends. */
  hangUpSoon(): void {
    const { raw } = this.#passing;
    raw.on('error', () => undefined).resume();
    this.#raw.shouldKeepAlive = false;
    lingerOnClose(raw);
    if (this.begun) this.hangUp();
  }

  hangUp(): void {
    const { socket } = this.#passing.raw;
    if (this.#raw.writableFinished) socket.destroySoon();
    else this.#raw.once('finish', () => socket.destroySoon());
  }

  /** Where bytes can be added. */
  #keep({ length, contentEncoding }: ResponseHeaders): void {
    const { clock, keepAliveMs } = this.#around;
    if (keepAliveMs === 0 || length !== undefined || contentEncoding !== '') return;
    const keepAlive = new KeepAlive(clock, keepAliveMs, () => {
      if (this.ended || this.#raw.writableNeedDrain) return;
      this.#writeHead();
      this.#raw.write(comment);
    });
    this.#keepAlive = keepAlive;
    whenEnded(this.#raw, keepAlive);
  }

  #begin(head: Head): void {
    this.#head = head;
    this.begun = true;
    this.#passing.taken();
  }

  #writeHead(): void {
    if (this.#head === undefined) return;
    const { status, reason, list } = this.#head;
    this.#head = undefined;
    const headers = this.#around.drain.draining ? [...list, 'connection', 'close'] : list;
    this.#raw.writeHead(status, reason, headers as string[]);
  }

  /** All of a short answer at once, where nothing about it is special. */
  #writeWhole(body: string): boolean {
    const head = this.#head;
    const isPlain = head !== undefined && !this.#around.drain.draining;
    return isPlain && writeWhole(this.#raw, head, body);
  }

  #pass(control: Control, chunk: Buffer): void {
    const raw = this.#raw;
    if (chunk.length === this.#length) {
      this.ended = true;
      // Node joins a head and a string to one write; for a buffer it makes two of them.
      const small = chunk.length <= smallBytes ? chunk.toString('latin1') : undefined;
      if (small !== undefined && this.#writeWhole(small)) return;
      this.#writeHead();
      if (small !== undefined) raw.end(small, 'latin1');
      else raw.end(chunk);
    } else {
      this.#writeHead();
      raw.write(chunk);
      if (raw.writableLength < waitingBytes) return;
      control.pause();
      raw.once('drain', () => control.resume());
    }
  }

  #release(head: Head): void {
    const body = this.#copy?.take();
    const sent = this.#inspection?.look(body) ?? body ?? Buffer.alloc(0);
    this.#held = undefined;
    this.ended = true;
    this.#begin({ ...head, list: withBody(head.list, sent, sent !== body) });
    this.#writeHead();
    this.#raw.end(sent);
  }
}
