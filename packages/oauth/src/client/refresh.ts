import { ServiceError, systemClock } from '@sallyport/core';
import { contract } from '@sallyport/core/contract';
import { None, processRefreshTokenResponse, refreshTokenGrantRequest } from 'oauth4webapi';
import type { Credentials } from '../store/token-store.ts';
import { toCredentials } from './credentials.ts';
import type { DiscoveredServer } from './discovery.ts';
import { LoginError } from './login-error.ts';
import { judged, requestOptions } from './oauth-fetch.ts';

/**
 * Trades the refresh token for a new login (RFC 6749 6); the old refresh token is used up then, so store the new login
 * before using it. Throws `LoginError` `login_required` where the service takes the token no more.
 */
export async function refreshLogin(
  server: DiscoveredServer,
  login: Credentials,
  { scope, signal }: { readonly scope?: string; readonly signal?: AbortSignal } = {},
): Promise<Credentials> {
  const { options, metadata, client } = server;
  const { refreshToken } = login;
  if (refreshToken === undefined) throw new LoginError('login_required', 'The login has run out.');
  const requestedAt = (options.clock ?? systemClock).now();
  try {
    const answer = await judged(options.baseUrl, async () => {
      const response = await refreshTokenGrantRequest(metadata, client, None(), refreshToken, {
        ...requestOptions(options, contract.oauth.token, { signal }),
        ...(scope !== undefined && { additionalParameters: { scope } }),
      });
      return processRefreshTokenResponse(metadata, client, response);
    });
    return toCredentials(server, answer, login, requestedAt);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'invalid_grant') throw error;
    throw new LoginError('login_required', `${login.baseUrl} no longer accepts the login.`, { cause: error });
  }
}
