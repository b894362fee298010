import { ServiceError } from '@sallyport/core';
import type { AccessTokens } from './access-token.ts';
import { unknownClient } from './clients.ts';
import { missing, sentParameters, type Context } from './context.ts';
import { tellRevocation } from './grants.ts';
import { readRefreshToken } from './refresh-token.ts';

/** The revocation endpoint (RFC 7009 2): the login of a refresh token, or one access token. */
export type RevocationEndpoint = (body: Readonly<Record<string, unknown>>) => Promise<void>;

export function createRevocationEndpoint(context: Context, accessTokens: AccessTokens): RevocationEndpoint {
  const { store, clock, refreshKey } = context;

  return async (body) => {
    const { client_id: clientId, token } = sentParameters(body);
    if (clientId === undefined) throw missing('client_id');
    if (token === undefined) throw missing('token');
    if (!(await store.reads.client({ clientId }))) throw unknownClient();
    // The hint is not needed: the two kinds cannot be mistaken for each other.
    const refresh = readRefreshToken(token, refreshKey);
    if (refresh) {
      await store.acts.revokeFamily({ familyId: refresh.id, of: { clientId }, now: clock.now() });
      tellRevocation(context);
      return;
    }
    const grant = await accessTokens.verify(token).catch((error: unknown) => {
      // A token that is nobody's, or is dead already, is as good as revoked (RFC 7009 2.2).
      if (error instanceof ServiceError && error.code === 'invalid_token') return undefined;
      throw error;
    });
    if (grant?.clientId !== clientId) return;
    const { tokenId: jti, expiresAt, accountId, organizationId } = grant;
    await store.acts.revokeAccessToken({ jti, expiresAt, accountId, organizationId });
    tellRevocation(context);
  };
}
