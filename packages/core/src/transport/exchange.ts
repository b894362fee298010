import type { Dispatcher } from 'undici';
import { readText } from './body.ts';
import { transportFailure } from './failure.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

type Controller = Dispatcher.DispatchController;
type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

/** So much of a body may wait for its reader; then the connection is not read on. */
const maxWaitingBytes = 64 * 1024;

/**
 * One request of undici's and its answer. undici's own `request` makes a stream of every body, which for a short answer is
 * most of what the call costs; here the chunks wait in a list until they are asked for.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: TransportRequest;
  readonly #chunks: Uint8Array[] = [];
  #waitingBytes = 0;
  #state: 'head' | 'body' | 'ended' | 'failed' = 'head';
  #failure: unknown;
  #controller: Controller | undefined;
  #onHead: ((answer: TransportResponse) => void) | undefined;
  #onFailure: ((error: unknown) => void) | undefined;
  #onChange: (() => void) | undefined;

  constructor(request: TransportRequest) {
    this.#request = request;
  }

  /** Starts it with `dispatch`, and resolves when the head is there. */
  answer(dispatch: (handler: Dispatcher.DispatchHandler) => void): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      this.#onHead = resolve;
      this.#onFailure = reject;
      const { signal } = this.#request;
      if (signal?.aborted) return this.#fail(signal.reason);
      signal?.addEventListener('abort', this.#abort);
      try {
        dispatch(this);
      } catch (error) {
        this.#fail(error);
      }
    });
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    // It was given up while it waited for a connection.
    if (this.#state === 'failed') this.#stop();
  }

  onResponseStart(_controller: Controller, status: number, headers: Headers): void {
    if (status < 200 || this.#state !== 'head') return;
    this.#state = 'body';
    this.#onHead?.({
      status,
      headers: joined(headers),
      stream: () => this.#stream(),
      text: (maxBytes) => readText(this.#stream(), maxBytes),
    });
  }

  onResponseData(controller: Controller, chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#waitingBytes += chunk.byteLength;
    if (this.#waitingBytes > maxWaitingBytes) controller.pause();
    this.#onChange?.();
  }

  onResponseEnd(): void {
    this.#end('ended');
  }

  onResponseError(_controller: Controller | null, error: unknown): void {
    this.#fail(error);
  }

  async *#stream(): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk) {
          this.#waitingBytes -= chunk.byteLength;
          if (this.#waitingBytes === 0) this.#controller?.resume();
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
    this.#fail(this.#request.signal?.reason);
    this.#stop();
  };

  #stop(): void {
    this.#controller?.abort(new Error('the answer is not wanted any more'));
  }

  #fail(error: unknown): void {
    if (this.#state === 'ended' || this.#state === 'failed') return;
    this.#failure = transportFailure(error, this.#request.url, this.#request.signal);
    this.#onFailure?.(this.#failure);
    this.#end('failed');
  }

  #end(state: 'ended' | 'failed'): void {
    this.#state = state;
    this.#request.signal?.removeEventListener('abort', this.#abort);
    this.#onChange?.();
  }
}

function joined(headers: Headers): Record<string, string> {
  const list: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) list[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return list;
}
