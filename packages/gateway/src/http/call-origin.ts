import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallOrigin } from '@sallyport/oauth/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * Which request is being served, for the audit: asked where an act is written, however deep, so that no engine has to pass
 * it through. It is told of, never decided by.
 */
export interface CallOrigins {
  current(): CallOrigin | undefined;
  /** Has every request of the app remembered while it is served. */
  follow(app: FastifyInstance): void;
}

export function createCallOrigins(): CallOrigins {
  const requests = new AsyncLocalStorage<FastifyRequest>();
  return {
    current() {
      const request = requests.getStore();
      return request && { actor: actorOf(request), address: request.ip, requestId: request.id };
    },
    follow(app) {
      app.addHook('onRequest', (request, _reply, done) => requests.run(request, done));
    },
  };
}

/** Known once the request's credential is checked; a page's visitor is the engine's to tell. */
function actorOf({ caller }: FastifyRequest): CallOrigin['actor'] {
  if (caller === undefined || !('accountId' in caller)) return undefined;
  const organization = 'organizationId' in caller && { organizationId: caller.organizationId };
  return { type: 'account', id: caller.accountId, ...organization };
}
