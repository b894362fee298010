import { ServiceError } from '@sallyport/core';
import { loginCommand, type ConfiguredUpstream } from '../config/upstreams.ts';

// What callers are told where there is no answer to pass on. Which upstream it was, and why, is for the log alone.

export function unreachable(origin: string, cause: Error): ServiceError {
  return away({ cause: upstreamError(origin, cause) });
}

export function breakerOpen(origin: string, retryAfterMs: number): ServiceError {
  return away({ cause: new Error(`${origin} is not asked: its breaker is open`), retryAfterMs });
}

function away(more: { readonly cause: Error; readonly retryAfterMs?: number }): ServiceError {
  return new ServiceError('upstream_unreachable', 'The upstream cannot be reached; try again later.', more);
}

/** All connections to it are taken by what lasts: it has not been asked. */
export function noneFree(origin: string): ServiceError {
  return new ServiceError('overloaded', 'All connections to the upstream are taken; try again later.', {
    cause: new Error(`all connections to ${origin} are taken: upstream.connections is how many there may be`),
    retryAfterMs: 1000,
  });
}

export function timedOut(origin: string): ServiceError {
  const cause = new Error(`${origin} did not answer in time`);
  return new ServiceError('upstream_timeout', 'The upstream did not answer in time; try again later.', {
    cause,
  });
}

/** The code stays that of the network. */
function upstreamError(origin: string, cause: NodeJS.ErrnoException): Error {
  return Object.assign(new Error(origin, { cause }), cause.code !== undefined && { code: cause.code });
}

/** Who runs the gateway has to act: the log says so, too. */
export function loginEnded(cause: unknown, at: ConfiguredUpstream): ServiceError {
  return new ServiceError(
    'upstream_unreachable',
    `The gateway's own login at the upstream does not work; its operator has to run \`${loginCommand(at)}\`.`,
    { cause },
  );
}

export function malformed(cause: Error): ServiceError {
  const description = 'The request cannot be passed on: its path or a header is malformed.';
  return new ServiceError('invalid_request', description, { cause });
}

export function tooSlow(): ServiceError {
  return new ServiceError('invalid_request', 'The request did not arrive in time.', { status: 408 });
}

/** An answer that must be looked at before it goes on, and cannot be. */
export function unfit(what: string, cause?: unknown): ServiceError {
  return new ServiceError('upstream_unfit', `The upstream's answer ${what}.`, { cause });
}
