import type { TokenSource } from '@sallyport/core';
import { LoginError } from '../client/login-error.ts';

/**
 * An access token or API key from `SALLYPORT_TOKEN`; `undefined` where it is unset or empty.
 * It is never stored and never refreshed: once refused, it is for whoever set it to renew.
 */
export function environmentToken(environment: NodeJS.ProcessEnv = process.env): TokenSource | undefined {
  const given = environment['SALLYPORT_TOKEN']?.trim();
  if (!given) return undefined;
  return {
    token: async ({ forceRefresh = false } = {}) => {
      if (forceRefresh)
        throw new LoginError('token_refused', 'The service refused the token in SALLYPORT_TOKEN.');
      return given;
    },
  };
}
