import type { IncomingMessage } from 'node:http';
import type { Dialect } from '@sallyport/core';
import { endpoints } from '@sallyport/core/contract';
import { matcherFor, pathOf, routePath } from './paths.ts';

/** Tells whether a request asks for a WebSocket at a path of the contract that has one: known before there is an app. */
export function upgradableIn(dialect: Dialect): (request: IncomingMessage) => boolean {
  const sockets = endpoints.filter(({ transport }) => transport === 'websocket');
  const matchers = sockets.map((endpoint) => matcherFor(routePath(endpoint, dialect)));
  return ({ headers, url }) =>
    headers.upgrade?.toLowerCase() === 'websocket' && matchers.some((matches) => matches(pathOf(url)));
}
