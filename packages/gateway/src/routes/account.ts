import type { AuthorizationServer } from '@sallyport/oauth/server';
import type { Handlers } from '../http/handler.ts';
import { sendDocument, toDocument } from '../http/document.ts';
import { ownAnswer } from './own-answer.ts';

/** The account's rows. */
export function accountHandlers({ profiles, managedSettings }: AuthorizationServer): Handlers['account'] {
  return {
    async bootstrap({ caller, reply }) {
      reply.headers(ownAnswer);
      return profiles.bootstrap(caller?.accountId);
    },
    async access({ caller, params, reply }) {
      reply.headers(ownAnswer);
      return profiles.access(caller.accountId, params.org_id);
    },
    async settings({ caller, request, reply }) {
      reply.headers(ownAnswer);
      const settings = await managedSettings.of(caller.organizationId);
      if (Object.keys(settings).length === 0) return undefined;
      const answer = { settings };
      // The program keeps them, and asks whether they have changed: `no-store` would forbid what the tag is for.
      sendDocument(request, reply, toDocument(answer), { 'cache-control': 'private, no-cache' });
      return answer;
    },
  };
}
