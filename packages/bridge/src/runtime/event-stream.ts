import { isJsonObject, ServiceError, TransportError, type Timer } from '@sallyport/core';
import { callEndpoint, isForeignPage, readServerSentEvents, send } from '@sallyport/core/client';
import { contract, headerNames, workerVersion } from '@sallyport/core/contract';
import { closeCodes } from '../protocol/frames.ts';
import { heartbeatMs, silenceMs, type StreamEnd } from './live-socket.ts';
import { parseFrame, type StreamOptions, type WorkerStream } from './stream.ts';

/** Of one post, so that it stays under the service's limits. */
const mostEvents = 200;
const mostBytes = 512 * 1024;
/** How long the answer to one may take, and more for what a line of 8 KB/s needs to carry it: one large event must get through. */
const answerMs = 30_000;
const slowBytesPerMs = 8;

/**
 * The stream where a proxy breaks WebSockets: frames come as server-sent events, and the worker's own go out by posts, one
 * at a time and in order, with those that came up meanwhile. What a post could not deliver ends the stream.
 */
export class EventStream implements WorkerStream {
  readonly ended: Promise<StreamEnd>;
  readonly #options: StreamOptions;
  readonly #abort = new AbortController();
  readonly #timers = new Map<string, Timer>();
  #finish: (end: StreamEnd | Error) => void = () => undefined;
  #token: string;
  #isOpen = false;
  #isClosing = false;
  #isPosting = false;
  #events: string[] = [];
  #takenSeq: number | undefined;

  constructor(options: StreamOptions) {
    this.#options = options;
    this.#token = options.credentials.ingressToken;
    this.ended = new Promise((resolve, reject) => {
      this.#finish = (end) => {
        this.#isOpen = false;
        for (const timer of this.#timers.values()) timer.cancel();
        if (end instanceof Error) reject(end);
        else resolve(end);
        this.#abort.abort();
      };
    });
    void this.#read();
  }

  get isOpen(): boolean {
    return this.#isOpen && !this.#isClosing;
  }

  send(text: string): void {
    if (!this.isOpen) return;
    const frame: unknown = JSON.parse(text);
    if (!isJsonObject(frame)) return;
    if ('id' in frame) this.#events.push(text);
    else if (frame['type'] === 'ack') this.#takenSeq = Number(frame['seq']);
    else if (frame['type'] === 'auth') this.#token = String(frame['token']);
    void this.#post();
  }

  close(): void {
    this.#isClosing = true;
    this.#arm('close', 2_000, () => this.drop());
    this.#closeWhenSent();
  }

  drop(): void {
    this.#finish({ code: 1006, reason: 'dropped' });
  }

  async #read(): Promise<void> {
    const { clientOptions, credentials, sessionId, fromSeq, onOpen, onFrame } = this.#options;
    try {
      const answer = await send(
        { ...clientOptions, baseUrl: credentials.apiBaseUrl },
        { ...contract.worker.stream, transport: 'sse' },
        {
          headers: { [headerNames.version]: workerVersion },
          params: { id: sessionId },
          query: { from_seq: fromSeq },
        },
        { bearer: this.#token, signal: this.#abort.signal },
      );
      if (!answer.headers['content-type']?.startsWith('text/event-stream'))
        throw new TransportError('unexpected_answer', 'the event stream was answered with something else');
      this.#isOpen = true;
      this.#beat();
      onOpen();
      for await (const { event, data } of readServerSentEvents(this.#heard(answer.stream()))) {
        if (event === 'close') return this.#finish(toEnd(data));
        const frame = parseFrame(data);
        if (frame) onFrame(frame);
      }
      this.#finish({ code: 1006, reason: '' });
    } catch (error) {
      if (this.#isOpen) this.#finish({ code: 1006, reason: (error as Error).message });
      else this.#finish(error as Error);
    }
  }

  /** Comments are signs of life, too. */
  async *#heard(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    const hear = () => this.#arm('silence', silenceMs, () => this.drop());
    hear();
    for await (const chunk of chunks) {
      hear();
      yield chunk;
    }
  }

  #beat(): void {
    this.#arm('beat', heartbeatMs, () => void (this.#isPosting ? this.#signOfLife() : this.#post(true)));
  }

  /** Beside a post that a slow line is long about: the service knows of that one when all of it has come. */
  async #signOfLife(): Promise<void> {
    this.#beat();
    await this.#send('{"events":[]}').catch(() => undefined); // what is wrong the other one is told
  }

  async #post(isHeartbeat = false): Promise<void> {
    if (this.#isPosting) return;
    this.#isPosting = true;
    try {
      while (this.#isOpen && (isHeartbeat || this.#events.length > 0 || this.#takenSeq !== undefined)) {
        isHeartbeat = false;
        await this.#postOnce();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#isPosting = false;
    }
    this.#closeWhenSent();
  }

  async #postOnce(): Promise<void> {
    this.#beat();
    const events = this.#takeEvents();
    const ack = this.#takenSeq;
    this.#takenSeq = undefined;
    const answer = await this.#send(
      `{"events":[${events.join(',')}]${ack === undefined ? '' : `,"ack":${ack}`}}`,
    );
    this.#acknowledge((answer as { readonly events?: unknown } | undefined)?.events);
  }

  #send(content: string): Promise<unknown> {
    const { clientOptions, credentials, sessionId } = this.#options;
    return callEndpoint(
      { ...clientOptions, baseUrl: credentials.apiBaseUrl },
      contract.worker.events,
      { params: { id: sessionId } },
      {
        bearer: this.#token,
        encodedBody: { type: 'application/json', content },
        timeoutMs: answerMs + Buffer.byteLength(content) / slowBytesPerMs,
        signal: this.#abort.signal,
      },
    );
  }

  #takeEvents(): readonly string[] {
    let bytes = 0;
    let count = 0;
    for (const text of this.#events) {
      bytes += Buffer.byteLength(text);
      if (count > 0 && (count === mostEvents || bytes > mostBytes)) break;
      count += 1;
    }
    return this.#events.splice(0, count);
  }

  /** As a WebSocket's frames do it, one by one. */
  #acknowledge(events: unknown): void {
    if (!Array.isArray(events)) return;
    for (const event of events as readonly unknown[]) {
      if (!isJsonObject(event) || typeof event['id'] !== 'string') continue;
      this.#options.onFrame({ type: 'ack', id: event['id'], seq: Number(event['seq']) });
    }
  }

  #fail(error: unknown): void {
    if (!this.#isOpen) return;
    if (!(error instanceof ServiceError) || isForeignPage(error)) return this.drop();
    if (error.code === 'session_ended') this.#acknowledge(error.details['events']);
    this.#finish({ code: closeCodeOf(error), reason: error.code });
  }

  #closeWhenSent(): void {
    if (!this.#isClosing || this.#isPosting) return;
    this.#finish({ code: closeCodes.normal, reason: '' });
  }

  #arm(name: string, ms: number, act: () => void): void {
    this.#timers.get(name)?.cancel();
    this.#timers.set(name, this.#options.clock.after(ms, act));
  }
}

function toEnd(data: string): StreamEnd {
  const { code, reason } = (JSON.parse(data) ?? {}) as Partial<StreamEnd>;
  return { code: typeof code === 'number' ? code : 1006, reason: reason ?? '' };
}

/** The code with which a WebSocket would have been closed for such a refusal. */
function closeCodeOf({ status, code }: ServiceError): number {
  if (status === 401) return closeCodes.tokenExpired;
  if (code === 'stale_epoch') return closeCodes.staleEpoch;
  return status === 404 || code === 'session_ended' ? closeCodes.gone : 1006;
}
