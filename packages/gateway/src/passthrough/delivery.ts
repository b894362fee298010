import type { Clock, TokenSource } from '@sallyport/core';
import { retryAfterMs } from '@sallyport/core/client';
import type { AnswerHandler } from '@sallyport/core/http1';
import type { CredentialRule } from '../config/credentials.ts';
import { createBreaker } from './breaker.ts';
import { headerIn } from './headers.ts';
import type { OutboxRequest } from './outbox-ports.ts';
import type { Upstream } from './upstreams.ts';

/** What an upstream says to a request, whole. */
export interface DeliveredAnswer {
  readonly status: number;
  readonly reason: string;
  readonly raw: readonly string[];
  readonly body: Buffer;
}

/** How a delivery ended: with an answer that stands, or with nothing that would not be otherwise another time. */
export type Delivery =
  | { readonly answer: DeliveredAnswer }
  | {
      readonly answer: undefined;
      readonly reason: string;
      readonly waitMs: number;
      /** Whether the upstream refuses who asks, or nobody knows who that is to be. */
      readonly isCredential: boolean;
    };

/** Takes a request upstream once. Rejects only when `signal` aborts. */
export type Deliver = (request: OutboxRequest, timeoutMs: number, signal: AbortSignal) => Promise<Delivery>;

/** Answers to ingest are a few bytes; a body beyond this is left out. */
const longestAnswer = 1024 * 1024;
/** Wrong settings are not put right within seconds, and an upstream must not be flooded with refused credentials. */
const refusedCredentialWaitMs = 60_000;
/** All queues go by one credential: refused so often in a row, it is tried by one of them at a time. */
const refusalsInARow = 3;

export interface DeliverOptions {
  readonly upstream: Upstream;
  readonly credential: CredentialRule;
  /** The gateway's own login, where the rule is that. */
  readonly login: TokenSource | undefined;
  readonly clock: Clock;
}

export function deliverBy({ upstream, credential, login, clock }: DeliverOptions): Deliver {
  const refusals = createBreaker({ clock, threshold: refusalsInARow, openMs: refusedCredentialWaitMs });

  async function credentials(): Promise<string[]> {
    if (credential.kind === 'replace')
      return credential.header === 'authorization'
        ? ['authorization', `Bearer ${credential.value}`]
        : [credential.header, credential.value];
    if (credential.kind !== 'login' || login === undefined) return [];
    return ['authorization', `Bearer ${await login.token()}`];
  }

  return async (request, timeoutMs, signal) => {
    const later = (reason: string, waitMs = 0, isCredential = false) => ({
      answer: undefined,
      reason,
      waitMs,
      isCredential,
    });
    let headers: string[];
    try {
      headers = [...request.headers, ...(await credentials())];
    } catch (error) {
      return later((error as Error).message, refusedCredentialWaitMs, true);
    }
    const waitMs = upstream.breaker.admit();
    if (waitMs > 0) return later('the breaker is open', waitMs);
    const pauseMs = refusals.admit();
    if (pauseMs > 0) {
      upstream.breaker.released();
      return later('its credential was refused just now', pauseMs);
    }
    const late = new AbortController();
    const timer = clock.after(timeoutMs, () => late.abort(new Error('it does not answer in time')));
    try {
      const answer = await post(upstream, request, headers, AbortSignal.any([signal, late.signal]));
      upstream.breaker.succeeded();
      const isCredential = answer.status === 401 || answer.status === 403;
      if (isCredential) refusals.failed();
      else refusals.succeeded();
      if (!mayChange(answer.status)) return { answer };
      const after = retryAfterMs(headerIn(answer.raw, 'retry-after'), clock.now()) ?? 0;
      // The login may have been ended: the next try has another token, or says so.
      if (isCredential && login !== undefined)
        await login.token({ forceRefresh: true }).catch(() => undefined);
      return later(
        `it answers with ${answer.status}`,
        isCredential ? Math.max(after, refusedCredentialWaitMs) : after,
        isCredential,
      );
    } catch (error) {
      if (signal.aborted) upstream.breaker.released();
      else upstream.breaker.failed(error);
      refusals.released();
      signal.throwIfAborted();
      return later((error as Error).message);
    } finally {
      timer.cancel();
    }
  };
}

/**
 * More than OTLP would have a client retry: it may drop what it cannot send, this must not. Nor is what was sent elsewhere taken.
 */
function mayChange(status: number): boolean {
  return status >= 500 || (status >= 300 && status < 400) || [401, 403, 407, 408, 425, 429].includes(status);
}

function post(
  upstream: Upstream,
  { path, body }: OutboxRequest,
  headers: string[],
  signal: AbortSignal,
): Promise<DeliveredAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let head: Omit<DeliveredAnswer, 'body'> | undefined;
    if (signal.aborted) return reject(signal.reason as Error);
    const end = () => signal.removeEventListener('abort', abort);
    const handler: AnswerHandler = {
      head({ status, reason, headers: raw }) {
        head = { status, reason, raw };
      },
      data(chunk) {
        bytes += chunk.length;
        if (bytes <= longestAnswer) chunks.push(chunk);
        else chunks.length = 0;
      },
      end() {
        end();
        if (head) resolve({ ...head, body: Buffer.concat(chunks) });
      },
      failed(error) {
        end();
        reject(error);
      },
    };
    // The signal is the time limit: it counts the wait for a connection, too.
    const outgoing = {
      method: 'POST',
      path: upstream.basePath + path,
      headers,
      body: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
      idleMs: 0,
    };
    const control = upstream.dispatch(outgoing, handler);
    const abort = () => {
      control.abort(signal.reason as Error);
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
  });
}
