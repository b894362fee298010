import { readText } from './body.ts';
import { transportFailure } from './failure.ts';
import type { Transport } from './transport.ts';

/** A transport over any `fetch`: for runtimes other than Node.js, or an application's instrumented one. */
export function fetchTransport(fetch: typeof globalThis.fetch = globalThis.fetch): Transport {
  return {
    async send(request) {
      // fetch has no time-out for the head alone: this one is cleared when the head is there.
      const late = new AbortController();
      const timer = setTimeout(
        () => late.abort(new DOMException('no answer in time', 'TimeoutError')),
        request.timeoutMs,
      );
      const signal = request.signal ? AbortSignal.any([request.signal, late.signal]) : late.signal;
      try {
        const answer = await fetch(request.url, {
          method: request.method,
          headers: { ...request.headers },
          ...(request.body !== undefined && { body: request.body as NonNullable<RequestInit['body']> }),
          redirect: 'manual',
          signal,
        });
        const stream = async function* (): AsyncIterable<Uint8Array> {
          if (!answer.body) return;
          try {
            for await (const chunk of answer.body) yield chunk as Uint8Array;
          } catch (error) {
            throw transportFailure(error, request.url, request.signal);
          }
        };
        return {
          status: answer.status,
          headers: Object.fromEntries(answer.headers),
          stream,
          text: (maxBytes) => readText(stream(), maxBytes),
        };
      } catch (error) {
        throw transportFailure(late.signal.aborted ? late.signal.reason : error, request.url, request.signal);
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => Promise.resolve(),
  };
}
