import { ServiceError } from '@sallyport/core';
import { contract, type Endpoint } from '@sallyport/core/contract';
import type { PartialHandlers } from '../src/http/pipeline.ts';

/** Handlers that only say that they were reached (404), so that the checks before a handler can be told from its own. */
export const reachedHandlers = Object.fromEntries(
  Object.entries(contract).map(([area, rows]) => [
    area,
    Object.fromEntries(
      Object.keys(rows).map((verb) => [
        verb,
        () => Promise.reject(new ServiceError('not_found', 'Reached.')),
      ]),
    ),
  ]),
) as unknown as PartialHandlers;

/** What `testAuthenticator` takes for each kind of credential. */
export const tokens = {
  none: undefined,
  optional: undefined,
  access_token: 'access',
  session_key: 'session',
  ingress: 'worker',
};

/** Headers that take a call past the beta check. */
export function pastBeta({ beta }: Endpoint): Record<string, string> {
  return beta === undefined ? {} : { 'vendor-beta': beta };
}

export function pathWithin({ path }: Pick<Endpoint, 'path'>): string {
  return path.replace(/\{\w+\}/g, 'x');
}
