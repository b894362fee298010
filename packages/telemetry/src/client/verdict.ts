import { ServiceError, TransportError } from '@sallyport/core';
import { isForeignPage } from '@sallyport/core/client';

/** What becomes of a batch after an attempt to send it. */
export type Verdict =
  /** Stored. */
  | { readonly kind: 'sent' }
  /** The service named these events as bad: the others go again. */
  | { readonly kind: 'cut'; readonly indexes: ReadonlySet<number> }
  /** Too large, or one of them is bad: each half goes by itself; a single event is dropped. */
  | { readonly kind: 'split' }
  /** Refused for good. */
  | { readonly kind: 'drop' }
  /** This service takes no events from us: all are dropped, no more are sent. */
  | { readonly kind: 'disable' }
  /** The service is broken: again later, but not for ever. */
  | { readonly kind: 'retry' }
  /** Not now: again after `ms`, or after a pause that grows. */
  | { readonly kind: 'wait'; readonly ms?: number };

/** Without a login that the service takes, it is asked again so seldom. */
const authPauseMs = 5 * 60_000;

/** There is no token to send with: nobody has signed in, or the login has ended. */
export class LoginMissing extends Error {
  override readonly name = 'LoginMissing';
}

/** Judges why a batch of `size` events was not taken. */
export function judgeFailure(error: unknown, size: number): Verdict {
  if (error instanceof LoginMissing) return { kind: 'wait', ms: authPauseMs };
  if (error instanceof TransportError) return { kind: 'wait' };
  if (!(error instanceof ServiceError)) return { kind: 'retry' };
  const { status, retryAfterMs } = error;
  const later: Verdict = { kind: 'wait', ...(retryAfterMs !== undefined && { ms: retryAfterMs }) };
  // A portal, or a proxy without its service, says nothing of events. Which are too much for it, the halves tell.
  if (isForeignPage(error) && status !== 400 && status !== 413) return later;
  switch (status) {
    case 400:
      return judgeMalformed(error, size);
    case 401:
    case 407: // a proxy's, which has not asked the service
      return { kind: 'wait', ms: authPauseMs };
    case 403:
    case 404:
    case 405:
      return { kind: 'disable' };
    case 413:
      return { kind: 'split' };
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
      return later;
    default:
      return status >= 500 ? { kind: 'retry' } : { kind: 'drop' };
  }
}

function judgeMalformed({ issues }: ServiceError, size: number): Verdict {
  if (issues.length === 0) return { kind: 'split' };
  const named = issues.map(({ path }) => Number(/^events\/(\d+)(?:\/|$)/.exec(path)?.[1] ?? NaN));
  const indexes = new Set(named.filter((index) => index < size));
  // Something else than an event is wrong, such as a header: no part of the batch would fare better.
  return indexes.size > 0 ? { kind: 'cut', indexes } : { kind: 'drop' };
}
