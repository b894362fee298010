import type { IncomingMessage } from 'node:http';
import type { Ids } from '@sallyport/core';

const sane = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's `request-id` where it is sane, else a new one. */
export function requestIdOf(request: IncomingMessage, ids: Ids): string {
  const given = request.headers['request-id'];
  return typeof given === 'string' && sane.test(given) ? given : ids.next('req');
}
