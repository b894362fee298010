import type { Dispatcher } from 'undici';
import {
  MalformedRequest,
  type AnswerHandler,
  type Control,
  type Dispatch,
  type Outgoing,
} from './dispatch.ts';

/** Sends requests to an origin by undici, which speaks HTTP/2, too, and through proxies. */
export function dispatchOver(dispatcher: Dispatcher, origin: string): Dispatch {
  return (request, handler) => {
    const exchange = new UndiciExchange(handler);
    const { path, method, headers, body, idleMs } = request;
    dispatcher.dispatch(
      {
        origin,
        path,
        method,
        headers: withoutTrailer(headers),
        body,
        // Undici's begins while the body is on its way.
        headersTimeout: 0,
        bodyTimeout: idleMs,
      },
      exchange,
    );
    return exchange;
  };
}

/** It sends no trailers, so none are announced. */
function withoutTrailer(headers: Outgoing['headers']): string[] {
  return headers.filter((_, i) => headers[i - (i % 2)]?.toLowerCase() !== 'trailer');
}

class UndiciExchange implements Dispatcher.DispatchHandler, Control {
  readonly #handler: AnswerHandler;
  #controller: Dispatcher.DispatchController | undefined;
  #aborted: Error | undefined;

  constructor(handler: AnswerHandler) {
    this.#handler = handler;
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  abort(reason: Error): void {
    this.#aborted = reason;
    this.#controller?.abort(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#aborted) controller.abort(this.#aborted);
    else this.#handler.began?.();
  }

  onBodySent(): void {
    if (!this.#aborted) this.#handler.uploaded?.();
  }

  onRequestSent(): void {
    if (!this.#aborted) this.#handler.sent?.();
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, _: unknown, reason = ''): void {
    if (status >= 200 && !this.#aborted)
      // Undici reads a reason as UTF-8, which may be more than a status line takes (RFC 9112 4).
      this.#handler.head({
        status,
        reason: sendable.test(reason) ? reason : '',
        headers: flat(controller.rawHeaders),
      });
    // What comes along with the head is told of before.
    process.nextTick(() => {
      if (!this.#aborted) this.#handler.flush?.();
    });
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    // It gives an empty one when it goes on after a pause, and Node would write it.
    if (chunk.length > 0 && !this.#aborted) this.#handler.data(chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (!this.#aborted) this.#handler.end(flat(controller.rawTrailers));
  }

  onResponseError(_controller: unknown, error: Error): void {
    if (this.#aborted) return;
    const isMalformed = (error as NodeJS.ErrnoException).code === 'UND_ERR_INVALID_ARG';
    this.#handler.failed(isMalformed ? new MalformedRequest(error.message, { cause: error }) : error);
  }
}

/** What fits into a line of HTTP/1.1. HTTP/2 has no lines, so its values are held to that here. */
const sendable = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Those of HTTP/1.1 are flat already; those of HTTP/2 come as an object. */
function flat(headers: Dispatcher.DispatchController['rawHeaders']): string[] {
  if (Array.isArray(headers)) return headers.map(latin1);
  return Object.entries(headers ?? {}).flatMap(([name, value]) =>
    name.startsWith(':') ? [] : fieldsOf(name, [value ?? []].flat().map(latin1)),
  );
}

function fieldsOf(name: string, values: readonly string[]): string[] {
  return values.flatMap((value) => (sendable.test(value) ? [name, value] : []));
}

function latin1(bytes: Buffer | string): string {
  return typeof bytes === 'string' ? bytes : bytes.toString('latin1');
}
