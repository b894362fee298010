import { readText } from './body.ts';
import { transportFailure } from './failure.ts';
import type { Transport, TransportRequest } from './transport.ts';

/** A transport over any `fetch`: for runtimes other than Node.js, or an application's instrumented one. */
export function fetchTransport(fetch: typeof globalThis.fetch = globalThis.fetch): Transport {
  return {
    async send(request) {
      const { url, timeoutMs, idleMs = timeoutMs } = request;
      const late = createDeadline();
      const signal = request.signal ? AbortSignal.any([request.signal, late.signal]) : late.signal;
      const failure = (error: unknown) =>
        transportFailure(late.signal.aborted ? late.signal.reason : error, url, request.signal);
      try {
        // fetch has no time-outs of its own, neither for the head nor for a body that stands still.
        late.within(timeoutMs);
        const answer = await fetch(url, {
          method: request.method,
          headers: { ...request.headers },
          ...bodyOf(request),
          redirect: 'manual',
          signal,
        });
        late.cancel();
        const stream = async function* (): AsyncIterable<Uint8Array> {
          if (!answer.body) return;
          try {
            late.within(idleMs);
            for await (const chunk of answer.body) {
              late.cancel(); // a reader that takes its time is not a body that stands still
              yield chunk as Uint8Array;
              late.within(idleMs);
            }
          } catch (error) {
            throw failure(error);
          } finally {
            late.cancel();
          }
        };
        return {
          status: answer.status,
          headers: Object.fromEntries(answer.headers),
          stream,
          text: (maxBytes) => readText(stream(), { maxBytes, idleMs }),
        };
      } catch (error) {
        late.cancel();
        throw failure(error);
      }
    },
    close: () => Promise.resolve(),
  };
}

/** `duplex` is what fetch wants of whoever streams: the answer comes after the body. */
function bodyOf({ body }: TransportRequest): RequestInit {
  if (typeof body === 'function') return { body: ReadableStream.from(body()), duplex: 'half' };
  return body === undefined ? {} : { body: body as NonNullable<RequestInit['body']> };
}

/** An abort signal with a time-out that can be set again and again; 0 sets none. */
function createDeadline() {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    signal: controller.signal,
    within(ms: number) {
      if (ms === 0) return;
      timer = setTimeout(() => controller.abort(new DOMException('no answer in time', 'TimeoutError')), ms);
    },
    cancel: () => clearTimeout(timer),
  };
}
