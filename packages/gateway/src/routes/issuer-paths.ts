import { contract } from '@sallyport/core/contract';
import type { AuthorizationServer } from '@sallyport/oauth/server';
import type { MorePaths } from '../http/paths.ts';

/**
 * Where discovery is, too, for an issuer with a path, as RFC 8414 3.1 has it: the well-known part comes before the issuer's
 * path. A proxy that puts the gateway under a path must pass it on as it is.
 */
export function issuerPaths({ issuer }: Pick<AuthorizationServer, 'issuer'>): MorePaths {
  const { pathname } = new URL(issuer);
  if (pathname === '/') return {};
  const { discovery, openidConfiguration } = contract.oauth;
  return Object.fromEntries([discovery, openidConfiguration].map(({ id, path }) => [id, path + pathname]));
}
