import type { FastifyInstance } from 'fastify';
import { matcherFor } from './paths.ts';

/** Gives the methods that the registered routes take at a path: for `Allow`. Must be called before the routes are registered. */
export function collectAllowedMethods(app: FastifyInstance): (path: string) => string[] {
  const routes: { readonly methods: readonly string[]; readonly matches: (path: string) => boolean }[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    routes.push({ methods: [method].flat(), matches: matcherFor(url) });
  });
  return (path) => {
    const methods = routes.filter(({ matches }) => matches(path)).flatMap(({ methods: taken }) => taken);
    return [...new Set(methods)].sort();
  };
}
