import type { IncomingMessage } from 'node:http';
import { inDialect, type Dialect } from '@sallyport/core';
import { endpoints, families } from '@sallyport/core/contract';
import type { Destinations } from '../config/destinations.ts';
import { matcherFor, pathOf, routePath } from './paths.ts';

/**
 * Tells whether a request asks for a WebSocket at a path that may have one, of the contract or of a family that goes
 * upstream: known before there is an app.
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
  return ({ headers, url }) =>
    headers.upgrade?.toLowerCase() === 'websocket' && matchers.some((matches) => matches(pathOf(url)));
}
