import { AsyncLocalStorage } from 'node:async_hooks';
import type { Actor, CallOrigin } from '@sallyport/oauth/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/**
 * Which request is being served, for the audit: asked where an act is written, however deep, so that no engine has to pass
 * it through. It is told of, never decided by.
 */
export interface CallOrigins {
  current(): CallOrigin | undefined;
  /** Has every request of the app remembered while it is served. */
  follow(app: FastifyInstance): void;
  /** Does what no request asks for, in somebody's name. */
  by<T>(actor: Actor, act: () => T): T;
}

export function createCallOrigins(): CallOrigins {
  const origins = new AsyncLocalStorage<() => CallOrigin>();
  return {
    current: () => origins.getStore()?.(),
    follow(app) {
      app.addHook('onRequest', (request, _reply, done) => origins.run(() => originOf(request), done));
    },
    by: (actor, act) => origins.run(() => ({ actor }), act),
  };
}

function originOf(request: FastifyRequest): CallOrigin {
  return { actor: actorOf(request), address: request.ip, requestId: request.id };
}

/** Known once the request's credential is checked; a page's visitor is the engine's to tell. */
function actorOf({ caller }: FastifyRequest): CallOrigin['actor'] {
  if (caller === undefined || !('accountId' in caller)) return undefined;
  const organization = 'organizationId' in caller && { organizationId: caller.organizationId };
  return { type: 'account', id: caller.accountId, ...organization };
}
