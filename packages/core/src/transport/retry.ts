import { headerNames } from '../contract/headers.ts';
import { sleep, systemClock, type Clock } from '../clock.ts';
import { TransportError } from '../errors.ts';
import { transportFailure } from './failure.ts';
import type { Transport, TransportRequest, TransportResponse } from './transport.ts';

/** A service that asks for more patience than this gets it from the caller, who may hold a lock or a person's attention. */
const longestWaitMs = 30_000;

/** A call that is about to be made again. */
export interface Retry {
  /** 1 is the first one after the call itself. */
  readonly attempt: number;
  readonly waitMs: number;
  /** The network's failure, or the status of an answer that may pass. */
  readonly cause: TransportError | number;
}

/**
 * Sends again after network errors, 429 and 5xx, once per pause; a `Retry-After` longer than the pause wins, up to 30 s.
 * The last answer is given as it is. Only for calls that the contract says may be repeated.
 */
export async function sendWithRetries(
  transport: Transport,
  request: TransportRequest,
  pausesMs: readonly number[],
  clock: Clock = systemClock,
  onRetry?: (retry: Retry) => void,
): Promise<TransportResponse> {
  for (const [index, pauseMs] of pausesMs.entries()) {
    let waitMs = pauseMs;
    let cause: Retry['cause'];
    try {
      const answer = await transport.send(request);
      if (answer.status !== 429 && answer.status < 500) return answer;
      waitMs = Math.max(pauseMs, retryAfterMs(answer.headers[headerNames.retryAfter], clock.now()) ?? 0);
      if (waitMs > longestWaitMs) return answer;
      await answer.text().catch(() => undefined); // or the connection is not free for the next try
      cause = answer.status;
    } catch (error) {
      // Neither a certificate nor a protocol changes within a pause.
      if (!(error instanceof TransportError) || error.code === 'aborted' || error.code === 'insecure')
        throw error;
      cause = error;
    }
    onRetry?.({ attempt: index + 1, waitMs, cause });
    await sleep(clock, waitMs, request.signal).catch((reason: unknown) => {
      throw transportFailure(reason, request.url, request.signal);
    });
  }
  return transport.send(request);
}

/**
 * `Retry-After` in milliseconds from now: seconds or an HTTP date (RFC 9110 10.2.3); `undefined` where it is neither, or names
 * no time to come, which leaves the pause to the caller.
 */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now;
  return ms > 0 ? ms : undefined;
}
