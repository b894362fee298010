import type { AnswerHead } from '../dispatch.ts';
import { parseAnswerHead, type ParsedHead } from './answer-head.ts';
import { ChunkedBody } from './chunked-body.ts';
import { MalformedAnswer } from './fields.ts';

/** What an answer turns out to be. */
export interface ParsedAnswer {
  head(head: AnswerHead): void;
  data(chunk: Buffer): void;
  /** `keepMs`: how long the connection may be kept (see `ParsedHead`). */
  end(trailers: readonly string[], keepMs: number | undefined): void;
  /** Protocols are switched; `rest` is of the new one. */
  switched(head: AnswerHead, rest: Buffer): void;
}

/** All heads of an answer together, those of 1xx before it too. */
const maxHeadBytes = 16 * 1024;
const headEnd = '\r\n\r\n';
const lf = 0x0a;
const none: Buffer = Buffer.alloc(0);

type Stage = 'idle' | 'head' | 'body' | 'chunks' | 'until-close';

/** Reads the answers of one connection, one after the other, in whatever pieces they come. */
export class AnswerParser {
  readonly #answer: ParsedAnswer;
  #stage: Stage = 'idle';
  #isHead = false;
  #maySwitch = false;
  #bytes = none;
  #headBytes = 0;
  #left = 0;
  #chunks: ChunkedBody | undefined;
  #keepMs: number | undefined;

  constructor(answer: ParsedAnswer) {
    this.#answer = answer;
  }

  /** From now on what comes is the answer to such a request. */
  expect(method: string, upgrades: boolean): void {
    this.#stage = 'head';
    this.#isHead = method === 'HEAD';
    this.#maySwitch = upgrades;
    this.#headBytes = 0;
  }

  /** Nobody waits for the rest. */
  stop(): void {
    this.#stage = 'idle';
    this.#bytes = none;
    this.#chunks = undefined;
  }

  /** Throws `MalformedAnswer`; what nobody has asked for is that, too. */
  write(chunk: Buffer): void {
    if (this.#stage === 'idle') throw new MalformedAnswer('is to nothing that was asked');
    if (this.#stage !== 'head') return this.#readBody(chunk, 0);
    const bytes = this.#bytes === none ? chunk : Buffer.concat([this.#bytes, chunk]);
    const at = this.#readHeads(bytes, chunk.length);
    this.#bytes = this.#isPartial ? bytes.subarray(at) : none;
    if (this.#isBegun) this.#readBody(bytes, at);
  }

  /** The connection has ended. Gives whether the answer ends with it. */
  close(): boolean {
    if (this.#stage !== 'until-close') return false;
    this.#finish([], 0);
    return true;
  }

  get #isPartial(): boolean {
    return this.#stage === 'head';
  }

  /** Whoever takes a head may end it all. */
  get #isBegun(): boolean {
    return this.#stage !== 'head' && this.#stage !== 'idle';
  }

  /** Gives how far it came. `fresh`: how many of the bytes are new. */
  #readHeads(bytes: Buffer, fresh: number): number {
    let at = 0;
    while (this.#isPartial) {
      const end = bytes.indexOf(headEnd, at, 'latin1');
      const length = (end < 0 ? bytes.length : end) - at;
      if (this.#headBytes + length > maxHeadBytes) throw new MalformedAnswer('has too long a head');
      if (end < 0) {
        // Its lines may never end as they must: better to say so than to wait.
        const seen = Math.max(at, bytes.length - fresh - 1);
        if (bytes[at] === lf || /[^\r]\n/.test(bytes.toString('latin1', seen)))
          throw new MalformedAnswer('has lines that end oddly');
        return at;
      }
      this.#headBytes += length;
      const head = parseAnswerHead(bytes.toString('latin1', at, end));
      at = end + headEnd.length;
      if (head.status >= 200) this.#begin(head);
      else if (head.status === 101) this.#switch(head, bytes.subarray(at));
    }
    return at;
  }

  #begin(head: ParsedHead): void {
    const { framing, status } = head;
    const isBare = this.#isHead || status === 204 || status === 304;
    this.#keepMs = framing === 'until-close' && !isBare ? 0 : head.keepMs;
    this.#left = 0;
    if (isBare || typeof framing === 'number') {
      this.#stage = 'body';
      if (!isBare) this.#left = Number(framing);
    } else if (framing === 'chunked') {
      this.#stage = 'chunks';
      this.#chunks = new ChunkedBody();
    } else this.#stage = 'until-close';
    this.#answer.head(head);
  }

  #switch(head: ParsedHead, rest: Buffer): void {
    if (!this.#maySwitch) throw new MalformedAnswer('switches protocols, which nobody asked for');
    this.stop();
    this.#answer.switched(head, rest);
  }

  #readBody(bytes: Buffer, from: number): void {
    let at = from;
    if (this.#stage === 'body') {
      const end = Math.min(bytes.length, at + this.#left);
      this.#left -= end - at;
      if (end > at) this.#answer.data(bytes.subarray(at, end));
      at = end;
      if (this.#left === 0) this.#finish([], at < bytes.length ? 0 : this.#keepMs);
    } else if (this.#stage === 'chunks' && this.#chunks) {
      const chunks = this.#chunks;
      const data: Buffer[] = [];
      at = chunks.read(bytes, at, data);
      // Where a chunk ends means nothing (RFC 9112 7.1), and each would cost its reader a write.
      if (data.length > 0) this.#answer.data(data.length === 1 && data[0] ? data[0] : Buffer.concat(data));
      if (chunks.isWhole) this.#finish(chunks.trailers, at < bytes.length ? 0 : this.#keepMs);
    } else if (this.#stage === 'until-close' && at < bytes.length)
      this.#answer.data(at === 0 ? bytes : bytes.subarray(at));
  }

  /** Whoever has taken the last data may have ended it all. */
  #finish(trailers: readonly string[], keepMs: number | undefined): void {
    if (this.#stage === 'idle') return;
    this.stop();
    this.#answer.end(trailers, keepMs);
  }
}
