import type { AuthorizationServer } from '@sallyport/oauth/server';
import { contract } from '@sallyport/core/contract';
import type { FastifyInstance } from 'fastify';
import { sendMetadata } from './oauth.ts';

/**
 * Discovery for an issuer with a path, as RFC 8414 3.1 has it: the well-known part comes before the issuer's path. A proxy
 * that puts the gateway under a path must pass it on as it is. Such addresses follow from the configuration, so they are no
 * rows; all else about them is the rows'.
 */
export function registerIssuerPath(app: FastifyInstance, server: AuthorizationServer): void {
  const { pathname } = new URL(server.issuer);
  if (pathname === '/') return;
  for (const endpoint of [contract.oauth.discovery, contract.oauth.openidConfiguration])
    app.get(endpoint.path + pathname, { config: { endpoint } }, (request, reply) =>
      sendMetadata(server, request, reply),
    );
}
