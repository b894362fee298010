import type { Dialect } from '@sallyport/core';
import { contract, type Endpoint } from '@sallyport/core/contract';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  RouteOptions,
} from 'fastify';
import { routePath } from '../http/paths.ts';
import { openToAll } from '../http/public-documents.ts';

/** Read by any page: what they say is public. */
const open: readonly Endpoint[] = [
  contract.oauth.discovery,
  contract.oauth.openidConfiguration,
  contract.oauth.jwks,
];
/** Called by pages of the origins that the operator lists; never with cookies. */
const listed: readonly Endpoint[] = [
  contract.oauth.token,
  contract.oauth.deviceAuthorization,
  contract.oauth.revoke,
];

/** CORS for the rows above; the authorization page has none (RFC 9700 2.6). */
export function registerCors(
  app: FastifyInstance,
  { dialect, origins }: { readonly dialect: Dialect; readonly origins: readonly string[] },
): void {
  const openIds = new Set(open.map(({ id }) => id));
  const listedIds = new Set(origins.length > 0 ? listed.map(({ id }) => id) : []);
  app.addHook('onRoute', (route) => {
    const id = route.config?.endpoint?.id ?? '';
    if (openIds.has(id)) addFirst(route, (_request, reply) => reply.headers(openToAll));
    if (listedIds.has(id)) addFirst(route, (request, reply) => allowListed(request, reply, origins));
  });
  if (origins.length === 0) return;
  for (const endpoint of listed) {
    app.options(routePath(endpoint, dialect), (request, reply) => {
      if (allowListed(request, reply, origins))
        reply.headers({
          'access-control-allow-methods': 'POST',
          'access-control-allow-headers': 'content-type,authorization,dpop',
          'access-control-max-age': '3600',
        });
      void reply.code(204).send();
    });
  }
}

/** Before the checks: who is refused must be able to read why. */
function addFirst(route: RouteOptions, act: (request: FastifyRequest, reply: FastifyReply) => unknown): void {
  const first: onRequestHookHandler = (request, reply, done) => {
    act(request, reply);
    done();
  };
  route.onRequest = [first, ...[route.onRequest ?? []].flat()];
}

function allowListed(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): boolean {
  reply.header('vary', 'Origin');
  const { origin } = request.headers;
  if (origin === undefined || !origins.includes(origin)) return false;
  reply.headers({
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'Retry-After, WWW-Authenticate',
  });
  return true;
}
