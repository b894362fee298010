import { defaultLimits, type Endpoint } from '@sallyport/core/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { pathOf, queryOf } from '../http/paths.ts';

/** Items on the page that a query asks for: the row's default, and never more than the service's most. */
export function pageSize(endpoint: Endpoint, limit: number | undefined): number {
  return Math.min(limit ?? endpoint.limits?.pageSize ?? defaultLimits.maxPageSize, defaultLimits.maxPageSize);
}

/** RFC 8288: where the next page is, as a reference relative to the request's own. */
export function linkNextPage(request: FastifyRequest, reply: FastifyReply, next: string | undefined): void {
  if (next === undefined) return;
  const search = new URLSearchParams(queryOf(request.url));
  search.set('offset', next);
  reply.header('link', `<${pathOf(request.url)}?${search.toString()}>; rel="next"`);
}
