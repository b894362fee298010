import { ServiceError } from '@sallyport/core';
import { loginCommand, type ConfiguredUpstream } from '../config/upstreams.ts';

// What callers are told where there is no answer to pass on.

export function unreachable(cause?: Error, retryAfterMs?: number): ServiceError {
  return new ServiceError('upstream_unreachable', 'The upstream cannot be reached; try again later.', {
    ...(cause && { cause }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

export function timedOut(): ServiceError {
  return new ServiceError('upstream_timeout', 'The upstream did not answer in time; try again later.');
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
