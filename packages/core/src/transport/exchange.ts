import { readText } from './body.ts';
import type { AnswerHandler, AnswerHead, Control } from './dispatch.ts';
import { closedByCaller, transportFailure } from './failure.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

/** So much of a body may wait for its reader; then the connection is not read on. */
const maxWaitingBytes = 64 * 1024;

/**
 * One request and its answer. A stream of every body would be, for a short answer, most of what the call costs; here the
 * chunks wait in a list until they are asked for.
 */
export class Exchange implements AnswerHandler {
  readonly #request: TransportRequest;
  readonly #isClosed: () => boolean;
  readonly #chunks: Uint8Array[] = [];
  #waitingBytes = 0;
  #state: 'head' | 'body' | 'ended' | 'failed' = 'head';
  #failure: unknown;
  #control: Control | undefined;
  #late: ReturnType<typeof setTimeout> | undefined;
  #onHead: ((answer: TransportResponse) => void) | undefined;
  #onFailure: ((error: unknown) => void) | undefined;
  #onChange: (() => void) | undefined;

  /** Of a transport, that may be closed meanwhile. */
  constructor(request: TransportRequest, isClosed: () => boolean) {
    this.#request = request;
    this.#isClosed = isClosed;
  }

  /** Starts it with `dispatch`, and resolves when the head is there. */
  answer(dispatch: (handler: AnswerHandler) => Control): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      this.#onHead = resolve;
      this.#onFailure = reject;
      const { signal, timeoutMs } = this.#request;
      if (signal?.aborted) return this.failed(signal.reason);
      signal?.addEventListener('abort', this.#abort);
      if (timeoutMs > 0) this.#late = setTimeout(this.#giveUp, timeoutMs);
      // That a kept connection was closed meanwhile shows when the event loop has come round.
      setImmediate(() => this.#start(dispatch));
    });
  }

  #start(dispatch: (handler: AnswerHandler) => Control): void {
    if (this.#state === 'failed') return;
    try {
      this.#control = dispatch(this);
    } catch (error) {
      this.failed(error);
    }
  }

  /** As long as a stream goes on, the server need not have answered. */
  uploaded(): void {
    this.#late?.refresh();
  }

  head({ status, headers }: AnswerHead): void {
    clearTimeout(this.#late);
    this.#state = 'body';
    const { timeoutMs, idleMs = timeoutMs } = this.#request;
    this.#onHead?.({
      status,
      headers: joined(headers),
      stream: () => this.#stream(),
      // Of a short answer all is here already.
      text: (maxBytes) =>
        readText(this.#state === 'ended' ? this.#chunks.splice(0) : this.#stream(), { maxBytes, idleMs }),
    });
  }

  data(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#waitingBytes += chunk.byteLength;
    if (this.#waitingBytes > maxWaitingBytes) this.#control?.pause();
    this.#onChange?.();
  }

  end(): void {
    this.#end('ended');
  }

  failed(error: unknown): void {
    if (this.#state === 'ended' || this.#state === 'failed') return;
    const { url, signal } = this.#request;
    this.#failure = this.#isClosed() ? closedByCaller(error) : transportFailure(error, url, signal);
    this.#onFailure?.(this.#failure);
    this.#end('failed');
  }

  async *#stream(): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk) {
          this.#waitingBytes -= chunk.byteLength;
          if (this.#waitingBytes === 0) this.#control?.resume();
          yield chunk;
        } else if (this.#state === 'failed') throw this.#failure;
        else if (this.#state === 'ended') return;
        else await new Promise<void>((resolve) => (this.#onChange = resolve));
      }
    } finally {
      // Whoever stops early ends the connection.
      if (this.#state === 'body') this.#stop();
    }
  }

  readonly #abort = (): void => {
    this.#chunks.length = 0;
    this.failed(this.#request.signal?.reason);
    this.#stop();
  };

  readonly #giveUp = (): void => {
    this.failed(new DOMException('no answer in time', 'TimeoutError'));
    this.#stop();
  };

  #stop(): void {
    this.#control?.abort(new Error('the answer is not wanted any more'));
    this.#end('failed');
  }

  #end(state: 'ended' | 'failed'): void {
    this.#state = state;
    clearTimeout(this.#late);
    this.#request.signal?.removeEventListener('abort', this.#abort);
    this.#onChange?.();
  }
}

/** Of flat fields; names are lower-case, and repeated ones joined. */
function joined(fields: readonly string[]): Record<string, string> {
  const list: Record<string, string> = {};
  for (let i = 0; i < fields.length; i += 2) {
    const name = (fields[i] ?? '').toLowerCase();
    const value = fields[i + 1] ?? '';
    const before = list[name];
    list[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return list;
}
