import { ServiceError, TransportError, type Clock } from '@sallyport/core';
import { isForeignPage } from '@sallyport/core/client';
import { EventStream } from './event-stream.ts';
import { openWebSocket, type StreamOptions, type WorkerStream } from './stream.ts';

/** Upgrades that fail in a row before it is taken for a proxy's doing. */
const mostFailures = 2;
/** Then a host gets a WebSocket again, once: the upgrades that failed may have been those of a service that was restarted. */
const rememberedMs = 10 * 60_000;
/** What the service itself answers to an upgrade: no proxy stands between. */
const ownRefusals: readonly number[] = [401, 403, 404, 409, 429, 503];

/**
 * Opens streams to a host as WebSockets, until upgrades have failed twice and server-sent events get through: for some time
 * from then on as those.
 */
export class StreamChoice {
  readonly #failures = new Map<string, number>();
  /** Until when, by the monotonic clock. */
  readonly #withoutSockets = new Map<string, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  open(options: StreamOptions): WorkerStream {
    const { host } = new URL(options.credentials.apiBaseUrl);
    const now = this.#clock.monotonic();
    const isSocket =
      (this.#withoutSockets.get(host) ?? now) <= now && (this.#failures.get(host) ?? 0) < mostFailures;
    const onOpen = () => {
      this.#failures.delete(host);
      if (isSocket) this.#withoutSockets.delete(host);
      else if (!this.#withoutSockets.has(host)) this.#withoutSockets.set(host, now + rememberedMs);
      options.onOpen();
    };
    const stream = isSocket ? openWebSocket({ ...options, onOpen }) : new EventStream({ ...options, onOpen });
    stream.ended.catch((error: unknown) => {
      if (!isBroken(error)) return;
      // A second chance that was not taken: at once as before, and for as long again.
      if (isSocket && this.#withoutSockets.has(host)) this.#withoutSockets.set(host, now + rememberedMs);
      else if (isSocket) this.#failures.set(host, (this.#failures.get(host) ?? 0) + 1);
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
  if (error instanceof ServiceError) return isForeignPage(error) || !ownRefusals.includes(error.status);
  return error instanceof TransportError && !isUnreached(error.cause);
}

function isUnreached(cause: unknown): boolean {
  const { code = '' } = (cause ?? {}) as NodeJS.ErrnoException;
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/.test(code);
}
