import type { Endpoint } from '@sallyport/core/contract';
import type { AuthorizationServer } from '@sallyport/oauth/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HandlerCall, Handlers } from '../http/handler.ts';
import type { ConsentPage } from '../pages/consent.ts';

/** The authorization server's rows. */
export function oauthHandlers(server: AuthorizationServer, consent: ConsentPage): Handlers['oauth'] {
  const discover = async ({ request, reply }: Pick<HandlerCall<Endpoint>, 'request' | 'reply'>) => {
    sendCacheable(request, reply, server.metadata);
    return server.metadata.document;
  };
  return {
    token: ({ body, request }) => server.token(body, request.ip),
    authorize: ({ caller, params, body }) => server.authorization.authorize(caller, params.org_uuid, body),
    authorizePage: ({ request, reply }) => consent.show(request, reply),
    deviceAuthorization: ({ body, request }) => server.deviceFlow.start(body, request.ip),
    async revoke({ body }) {
      await server.revoke(body);
      return undefined;
    },
    async profile({ caller, reply }) {
      reply.headers({ 'cache-control': 'private, no-store', vary: 'Authorization' });
      return server.profiles.profile(caller);
    },
    discovery: discover,
    openidConfiguration: discover,
    async jwks({ reply }) {
      reply.header('cache-control', 'public, max-age=300');
      const { keys } = await server.signer.jwks();
      return { keys: [...keys] };
    },
  };
}

/** Sends a document as it was serialised at the start, or 304 to whoever has it. */
function sendCacheable(
  request: FastifyRequest,
  reply: FastifyReply,
  { json, etag }: AuthorizationServer['metadata'],
): void {
  reply.headers({ 'cache-control': 'public, max-age=300', etag });
  const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.includes(etag) || known?.includes('*')) void reply.code(304).send();
  else void reply.type('application/json; charset=utf-8').send(json);
}
