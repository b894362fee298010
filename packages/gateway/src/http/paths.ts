import { inDialect, type Dialect } from '@sallyport/core';
import type { Endpoint, Row } from '@sallyport/core/contract';

/** Where rows are served beside the paths that the contract has: what follows from the configuration. By the row. */
export type MorePaths = Readonly<Partial<Record<Row['id'], string>>>;

/** The row's path as Fastify's router writes it: `/v1/environments/:env_id`. */
export function routePath(endpoint: Pick<Endpoint, 'path'>, dialect: Dialect): string {
  return inDialect(endpoint.path, dialect).replace(/\{(\w+)\}/g, ':$1');
}

/** Tells whether a path (without query) is one that the route pattern takes. */
export function matcherFor(routePattern: string): (path: string) => boolean {
  const steps = routePattern.split('/').map((step) => {
    if (step.startsWith(':')) return '[^/]+';
    return step === '*' ? '.*' : step.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  const pattern = new RegExp(`^${steps.join('/')}$`);
  return (path) => pattern.test(path);
}

export function pathOf(url: string | undefined): string {
  return (url ?? '/').split(/[?#]/, 1)[0] ?? '/';
}

/** Without its question mark; further ones are part of it (RFC 3986 3.4). Empty where there is none. */
export function queryOf(url: string): string {
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at + 1);
}
