import { ServiceError } from '@sallyport/core';
import type { IntrospectionResponse } from '@sallyport/core/contract';
import type { AccessTokens } from './access-token.ts';
import { isApiKey, type ApiKeys } from './api-keys.ts';
import { missing, sentParameters, type Context } from './context.ts';
import { readRefreshToken } from './refresh-token.ts';
import { scopeToWire } from './wire-scopes.ts';

/**
 * The introspection endpoint (RFC 7662 2): access tokens, refresh tokens and API keys of the caller's organization; any other
 * is not active. Throws `not_found` unless it is switched on.
 */
export type IntrospectionEndpoint = (
  body: Readonly<Record<string, unknown>>,
  caller: { readonly organizationId: string },
) => Promise<IntrospectionResponse>;

/** What is told of a token, before the words of the wire. */
interface Active {
  readonly accountId: string;
  readonly organizationId: string;
  readonly scope: string;
  readonly clientId?: string;
  readonly expiresAt?: number;
  readonly tokenId?: string;
  readonly type?: 'Bearer';
}

export function createIntrospectionEndpoint(
  context: Context,
  { accessTokens, apiKeys }: { readonly accessTokens: AccessTokens; readonly apiKeys: ApiKeys },
): IntrospectionEndpoint {
  const { store, clock, refreshKey, issuer, dialect, config } = context;

  async function ofRefreshToken(named: { id: string; generation: number }): Promise<Active | undefined> {
    const family = await store.reads.family({ familyId: named.id });
    // The generation before may still be repeated by a client that lost a reply, but the live one is the newest.
    if (!family || family.generation !== named.generation) return undefined;
    const expiresAt = Math.min(family.idleExpiresAt, family.expiresAt);
    if (expiresAt <= clock.now() || !(await store.reads.standing({ familyId: family.id, jti: '' })))
      return undefined;
    return { ...family, expiresAt };
  }

  async function find(token: string): Promise<Active | undefined> {
    const refresh = readRefreshToken(token, refreshKey);
    if (refresh) return ofRefreshToken(refresh);
    try {
      const grant = isApiKey(token) ? await apiKeys.verify(token) : await accessTokens.verify(token);
      return { ...grant, scope: grant.scopes.join(' '), type: 'Bearer' };
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'invalid_token') return undefined;
      throw error;
    }
  }

  return async (body, { organizationId }) => {
    if (!config.introspection)
      throw new ServiceError('not_found', 'Introspection is not switched on (oauth.introspection).');
    const { token } = sentParameters(body);
    if (token === undefined) throw missing('token');
    const active = await find(token);
    if (active?.organizationId !== organizationId) return { active: false };
    const { accountId, scope, clientId, expiresAt, tokenId, type } = active;
    return {
      active: true,
      iss: issuer,
      aud: issuer,
      sub: accountId,
      org: organizationId,
      scope: scopeToWire(scope, dialect),
      ...(clientId !== undefined && { client_id: clientId }),
      ...(type !== undefined && { token_type: type }),
      ...(expiresAt !== undefined && { exp: Math.floor(expiresAt / 1000) }),
      ...(tokenId !== undefined && { jti: tokenId }),
    };
  };
}
