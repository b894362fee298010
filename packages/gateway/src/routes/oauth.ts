import type { Endpoint } from '@sallyport/core/contract';
import type { AuthorizationServer } from '@sallyport/oauth/server';
import { sendDocument, toDocument, type Document } from '../http/document.ts';
import type { HandlerCall, Handlers } from '../http/handler.ts';
import { publicHeaders, type PublicDocuments } from '../http/public-documents.ts';
import type { ConsentPage } from '../pages/consent.ts';
import { shownKey } from './admin-records.ts';
import { ownAnswer } from './own-answer.ts';

/** The authorization server's rows. */
export function oauthHandlers(server: AuthorizationServer, consent: ConsentPage): Handlers['oauth'] {
  const { metadata } = server;
  const document = toDocument(metadata);
  const discover = async ({ request, reply }: Pick<HandlerCall<Endpoint>, 'request' | 'reply'>) => {
    sendDocument(request, reply, document, publicHeaders);
    return metadata;
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
    introspect: ({ caller, body }) => server.introspect(body, caller),
    async profile({ caller, reply }) {
      reply.headers(ownAnswer);
      return server.profiles.profile(caller);
    },
    async createApiKey({ caller, body }) {
      const { name, scope, expires_in: expiresInSeconds } = body;
      return server.apiKeys.create(caller, {
        ...(name !== undefined && { name }),
        ...(scope !== undefined && { scope }),
        ...(expiresInSeconds !== undefined && { expiresInSeconds }),
      });
    },
    async listApiKeys({ caller }) {
      const keys = await server.apiKeys.list(caller);
      return { api_keys: keys.map((key) => shownKey(key, server.dialect)) };
    },
    async revokeApiKey({ caller, params }) {
      await server.apiKeys.revoke(params.key_id, caller);
      return { id: params.key_id, deleted: true };
    },
    async roles({ reply }) {
      reply.headers(ownAnswer);
      return server.profiles.roles();
    },
    discovery: discover,
    openidConfiguration: discover,
    async jwks({ request, reply }) {
      const { keys } = await server.signer.jwks();
      const answer = { keys: [...keys] };
      sendDocument(request, reply, toDocument(answer), publicHeaders);
      return answer;
    },
  };
}

/** What the rows of the same names answer with. */
export function oauthDocuments({ metadata, signer }: AuthorizationServer): PublicDocuments {
  const discovered = toDocument(metadata);
  const discovery = async () => discovered;
  let last: (Awaited<ReturnType<typeof signer.jwks>> & { readonly document: Document }) | undefined;
  return {
    'oauth.discovery': discovery,
    'oauth.openidConfiguration': discovery,
    async 'oauth.jwks'() {
      const { keys } = await signer.jwks();
      if (keys.length !== last?.keys.length || keys.some((key, i) => key !== last?.keys[i]))
        last = { keys, document: toDocument({ keys }) };
      return last.document;
    },
  };
}
