import { contract } from '@sallyport/core/contract';
import { None, processRevocationResponse, revocationRequest } from 'oauth4webapi';
import type { Credentials, TokenStore } from '../store/token-store.ts';
import { discover } from './discovery.ts';
import { judged, requestOptions, type OAuthOptions } from './oauth-fetch.ts';

export interface Logout extends Omit<OAuthOptions, 'baseUrl' | 'clientId'> {
  readonly store: TokenStore;
  readonly key: string;
  readonly signal?: AbortSignal;
}

export interface LogoutResult {
  /** Whether there was a login to remove. */
  readonly removed: boolean;
  /** Why the service could not be told: the tokens stay valid there until they expire. */
  readonly failure?: Error;
}

/** Ends a login: tells the service, if it can be reached, and removes it from this machine in any case, damaged ones too. */
export async function logout({ store, key, signal, ...options }: Logout): Promise<LogoutResult> {
  // Under the lock: a refresh that is under way would store the login again.
  const ending = store.withLock(key, async () => {
    try {
      const login = await store.load(key);
      if (login)
        await revokeLogin({ ...options, baseUrl: login.baseUrl, clientId: login.clientId }, login, signal);
      return { removed: login !== undefined };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return { removed: true, failure: error };
    } finally {
      await store.remove(key);
    }
  });
  return ending.catch(async (error: unknown) => {
    const login = await store.load(key).catch(() => error);
    if (login !== undefined) throw error;
    // Where nothing can be written there is nothing to write.
    return { removed: false };
  });
}

/** Revokes the refresh token, and with it the whole login (RFC 7009). Throws `LoginError` `unsupported`. */
export async function revokeLogin(
  options: OAuthOptions,
  login: Credentials,
  signal?: AbortSignal,
): Promise<void> {
  const { metadata, client } = await discover(options, signal);
  await judged(options.baseUrl, async () => {
    const call = {
      ...requestOptions(options, contract.oauth.revoke, { signal }),
      additionalParameters: {
        token_type_hint: login.refreshToken === undefined ? 'access_token' : 'refresh_token',
      },
    };
    const token = login.refreshToken ?? login.accessToken;
    await processRevocationResponse(await revocationRequest(metadata, client, None(), token, call));
  });
}
