import { createClient } from '@sallyport/core/client';
import type { TokenEndpointResponse } from 'oauth4webapi';
import type { Credentials } from '../store/token-store.ts';
import type { DiscoveredServer } from './discovery.ts';
import type { OAuthOptions } from './oauth-fetch.ts';

/** How long an access token is taken to live where the server does not say (RFC 6749 5.1 lets it): short, to be safe. */
const unstatedLifetimeSeconds = 300;

/** What is known of a login before its token response. */
export type KnownLogin = Pick<Credentials, 'scope'> &
  Partial<Pick<Credentials, 'organizationId' | 'accountId' | 'refreshToken' | 'deviceToken'>>;

/**
 * The login that a token response makes. `requestedAt` is this machine's time before the request: `expires_in` counts from
 * later on, so the login expires here no later than there, however far apart the two clocks are.
 */
export function toCredentials(
  { options, client }: DiscoveredServer,
  answer: TokenEndpointResponse,
  known: KnownLogin,
  requestedAt: number,
): Credentials {
  return {
    ...known,
    baseUrl: options.baseUrl,
    clientId: client.client_id,
    accessToken: answer.access_token,
    ...(answer.refresh_token !== undefined && { refreshToken: answer.refresh_token }),
    requestedAt,
    expiresAt: requestedAt + (answer.expires_in ?? unstatedLifetimeSeconds) * 1000,
    scope: answer.scope ?? known.scope,
  };
}

/** Completes a new login with whose it is: the token's claims tell, else the bootstrap document, if it leaves no choice. */
export async function identified(
  options: OAuthOptions,
  login: Credentials,
  signal?: AbortSignal,
): Promise<Credentials> {
  const { sub, org } = claimsOf(login.accessToken);
  const accountId = login.accountId ?? sub;
  // The token's word first: a person may have chosen another organization than was asked for.
  const organizationId =
    org ?? login.organizationId ?? (await onlyOrganization(options, login.accessToken, signal));
  return {
    ...login,
    ...(accountId !== undefined && { accountId }),
    ...(organizationId !== undefined && { organizationId }),
  };
}

/** Names only, for the person's eyes and for addresses: what the token is worth, the service judges. */
function claimsOf(accessToken: string): { readonly sub?: string; readonly org?: string } {
  try {
    const claims: unknown = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString());
    const { sub, org } = claims as Record<string, unknown>;
    return { ...(typeof sub === 'string' && { sub }), ...(typeof org === 'string' && { org }) };
  } catch {
    return {}; // opaque to us, as RFC 6749 1.4 lets it be
  }
}

async function onlyOrganization(
  options: OAuthOptions,
  bearer: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  try {
    const { account } = await createClient(options).account.bootstrap({ bearer, ...(signal && { signal }) });
    return account.memberships.length === 1 ? account.memberships[0]?.organization.uuid : undefined;
  } catch {
    return undefined; // the login holds without it
  }
}
