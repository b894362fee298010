import type { IncomingMessage } from 'node:http';
import type { Ids } from '@sallyport/core';
import { headerNames } from '@sallyport/core/contract';

const sane = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `request-id` where it is sane, else a new one. */
export function requestIdOf(request: IncomingMessage, ids: Ids): string {
  const given = request.headers[headerNames.requestId];
  return typeof given === 'string' && sane.test(given) ? given : ids.next('req');
}
