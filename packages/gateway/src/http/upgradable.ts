import type { IncomingMessage } from 'node:http';
import { inDialect, type Dialect } from '@sallyport/core';
import { endpoints, families } from '@sallyport/core/contract';
import type { Destinations } from '../config/destinations.ts';
import { matcherFor, pathOf, routePath } from './paths.ts';

/**
 * Tells whether a request asks for a WebSocket at a path that may have one, of the contract or of a family that goes
 * upstream: known before there is an app. HTTP/1.0 has no upgrades (RFC 9110 7.8), and a handshake no body (RFC 6455 4.1):
 * one would be taken for the first frames.
 */
export function upgradableIn(
  dialect: Dialect,
  destinations?: Destinations,
): (request: IncomingMessage) => boolean {
  const sockets = endpoints.filter(({ transport }) => transport === 'websocket');
  const matchers = sockets.map((endpoint) => matcherFor(routePath(endpoint, dialect)));
  for (const { name, prefix } of families)
    if (destinations?.get(name)?.to === 'upstream')
      matchers.push(matcherFor(`${inDialect(prefix, dialect)}/*`));
  return ({ headers, httpVersion, url }) =>
    headers.upgrade?.toLowerCase() === 'websocket' &&
    httpVersion === '1.1' &&
    !hasBody(headers) &&
    matchers.some((matches) => matches(pathOf(url)));
}

function hasBody(headers: IncomingMessage['headers']): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}
