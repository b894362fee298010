import type { AuthorizationServer } from '@sallyport/oauth/server';
import type { Handlers } from '../http/handler.ts';

/** The account's rows. */
export function accountHandlers({ profiles }: AuthorizationServer): Handlers['account'] {
  return {
    async bootstrap({ caller, reply }) {
      reply.headers({ 'cache-control': 'private, no-store', vary: 'Authorization' });
      return profiles.bootstrap(caller?.accountId);
    },
  };
}
