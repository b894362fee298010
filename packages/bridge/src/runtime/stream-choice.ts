import { ServiceError, TransportError } from '@sallyport/core';
import { EventStream } from './event-stream.ts';
import { openWebSocket, type StreamOptions, type WorkerStream } from './stream.ts';

/** Upgrades that fail in a row before it is taken for a proxy's doing. */
const mostFailures = 2;
/** What the service itself answers to an upgrade: no proxy stands between. */
const ownRefusals: readonly number[] = [401, 403, 404, 409, 429, 503];

/**
 * Opens streams to a host as WebSockets, until upgrades have failed twice and server-sent events get through: from then on
 * as those.
 */
export class StreamChoice {
  readonly #failures = new Map<string, number>();
  readonly #withoutSockets = new Set<string>();

  open(options: StreamOptions): WorkerStream {
    const { host } = new URL(options.credentials.apiBaseUrl);
    const isSocket = !this.#withoutSockets.has(host) && (this.#failures.get(host) ?? 0) < mostFailures;
    const onOpen = () => {
      this.#failures.delete(host);
      if (!isSocket) this.#withoutSockets.add(host);
      options.onOpen();
    };
    const stream = isSocket ? openWebSocket({ ...options, onOpen }) : new EventStream({ ...options, onOpen });
    stream.ended.catch((error: unknown) => {
      if (!isBroken(error)) return;
      if (isSocket) this.#failures.set(host, (this.#failures.get(host) ?? 0) + 1);
      else {
        // The network is down: it says nothing about WebSockets.
        this.#failures.delete(host);
        this.#withoutSockets.delete(host);
      }
    });
    return stream;
  }
}

/** Somebody was there and did not understand; a service that is down or out of reach says nothing about upgrades. */
function isBroken(error: unknown): boolean {
  if (error instanceof ServiceError) return !ownRefusals.includes(error.status);
  return error instanceof TransportError && !isUnreached(error.cause);
}

function isUnreached(cause: unknown): boolean {
  const { code = '' } = (cause ?? {}) as NodeJS.ErrnoException;
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/.test(code);
}
