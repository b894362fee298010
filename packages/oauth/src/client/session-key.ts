import { ServiceError } from '@sallyport/core';
import { createClient, type Client } from '@sallyport/core/client';
import { firstPartyClient, nobodyId } from '@sallyport/core/contract';
import type { Credentials } from '../store/token-store.ts';
import { beginAuthorization, finishAuthorization } from './authorization.ts';
import { discover } from './discovery.ts';
import { interruptible } from './interruption.ts';
import { LoginError } from './login-error.ts';
import type { OAuthOptions } from './oauth-fetch.ts';

export interface SessionKeyLogin extends OAuthOptions {
  /** A signed-in person's key. */
  readonly sessionKey: string;
  /** Default: the account's only organization. */
  readonly organizationId?: string;
  readonly scope?: string;
  readonly signal?: AbortSignal;
}

/** Nobody is redirected there. */
const [redirectUri] = firstPartyClient.redirectUris;

/**
 * Logs in without a browser: the session key stands for the person (POST /v1/oauth/{org_uuid}/authorize).
 * Throws `LoginError` `no_organization` or `organization_required`; a refused key is a `ServiceError` with status 401.
 */
export function loginWithSessionKey(login: SessionKeyLogin): Promise<Credentials> {
  const { sessionKey: bearer, signal, scope } = login;
  return interruptible(signal, async () => {
    const server = await discover(login, signal);
    const client = createClient(login);
    const call = { bearer, ...(signal && { signal }) };
    const organizationId = login.organizationId ?? (await organizationOf(client, call));
    const pending = await beginAuthorization(server, { redirectUri, scope, organizationId });
    const { redirect_uri: redirect } = await client.oauth.authorize({
      ...call,
      params: { org_uuid: organizationId },
      body: { ...pending.parameters, organization_uuid: organizationId },
    });
    return finishAuthorization(server, pending, new URL(redirect), signal);
  });
}

async function organizationOf(
  client: Client,
  call: { bearer: string; signal?: AbortSignal },
): Promise<string> {
  const { account } = await client.account.bootstrap(call);
  // Who calls with an invalid credential is nobody to the bootstrap document, which has no 401.
  if (account.uuid === nobodyId)
    throw new ServiceError('invalid_token', 'The session key is not known to this gateway, or has expired.');
  const [first, ...others] = account.memberships.map(({ organization }) => organization);
  if (first === undefined) throw new LoginError('no_organization', 'The account belongs to no organization.');
  if (others.length > 0) {
    const shown = [first, ...others].map(({ uuid, name }) =>
      name === undefined ? uuid : `${name} (${uuid})`,
    );
    throw new LoginError(
      'organization_required',
      `The account belongs to several organizations: ${shown.join(', ')}.`,
    );
  }
  return first.uuid;
}
