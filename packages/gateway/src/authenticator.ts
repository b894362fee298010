import type { WorkerTokens } from '@sallyport/bridge/server';
import { invalidToken, isApiKey, type AuthorizationServer } from '@sallyport/oauth/server';
import { workerPermission } from './http/admission.ts';
import type { Authenticator } from './http/callers.ts';

/** Who credentials are of, by the authorization server and the bridge. */
export function createAuthenticator(
  { accessTokens, apiKeys, grants, sessions }: AuthorizationServer,
  workerTokens: WorkerTokens,
): Authenticator {
  return {
    async accessToken(token) {
      const since = grants.changes;
      if (isApiKey(token)) {
        const { accountId, organizationId, role, permissions, scopes, keyId } = await apiKeys.verify(token);
        return {
          accountId,
          organizationId,
          role,
          permissions,
          scopes,
          grantId: keyId,
          isApiKey: true,
          since,
        };
      }
      const { accountId, organizationId, role, permissions, scopes, familyId, tokenId } =
        await accessTokens.verify(token);
      const caller = { accountId, organizationId, role, permissions, scopes, tokenId };
      return { ...caller, grantId: familyId, isApiKey: false, since };
    },
    sessionKey: (key) => sessions.authenticate(key),
    async ingress(token) {
      const since = grants.changes;
      const worker = await workerTokens.verify(token);
      // As an access token's: a worker's token ends with the login that it came by, and with the right to have one.
      if (!(await grants.stands(worker.grantId, workerPermission))) throw invalidToken();
      return { ...worker, since };
    },
  };
}
