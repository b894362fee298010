import { TransportError } from '../errors.ts';
import { reasonOf } from '../reason.ts';
import { tlsFailure } from './tls-failure.ts';

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'no such host',
  EAI_AGAIN: 'the name server does not answer',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no network',
  UND_ERR_SOCKET: 'connection closed',
};

/** What went wrong below HTTP, in words for the person at the terminal. */
export function transportFailure(cause: unknown, url: string, signal?: AbortSignal): TransportError {
  if (cause instanceof TransportError) return cause;
  const origin = URL.canParse(url) ? new URL(url).origin : url;
  if (signal?.aborted)
    return new TransportError('aborted', 'the request was aborted', { cause: signal.reason });
  const code = codeOf(cause);
  if (
    code === 'UND_ERR_HEADERS_TIMEOUT' ||
    code === 'UND_ERR_CONNECT_TIMEOUT' ||
    code === 'UND_ERR_BODY_TIMEOUT' ||
    code === 'ETIMEDOUT'
  ) {
    return new TransportError('timeout', `${origin} did not answer in time`, { cause });
  }
  const insecure = tlsFailure(code, origin);
  if (insecure !== undefined) return new TransportError('insecure', insecure, { cause });
  return new TransportError('unreachable', `${origin} cannot be reached: ${words[code] ?? reasonOf(cause)}`, {
    cause,
  });
}

/**
 * Who closes the transport has aborted whatever went over it: whoever tries again until there is a service would do so for ever.
 */
export function closedByCaller(cause: unknown): TransportError {
  return new TransportError('aborted', 'the transport was closed', { cause });
}

/** Node wraps: `fetch failed` has the reason in `cause`, a name with several addresses an AggregateError. */
function codeOf(error: unknown): string {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code;
    if (at.name === 'TimeoutError') return 'ETIMEDOUT';
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return '';
}
