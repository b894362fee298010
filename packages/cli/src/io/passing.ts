import { ServiceError, TransportError } from '@sallyport/core';

/** Whether the same call may succeed later: the network failed, or the service was busy or out of order. */
export function isPassing(error: unknown): boolean {
  if (error instanceof ServiceError) return error.status === 429 || error.status >= 500;
  return error instanceof TransportError && error.code !== 'aborted';
}
