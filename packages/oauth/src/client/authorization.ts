import { ServiceError, systemClock, TransportError } from '@sallyport/core';
import { contract } from '@sallyport/core/contract';
import {
  authorizationCodeGrantRequest,
  AuthorizationResponseError,
  calculatePKCECodeChallenge,
  customFetch,
  generateRandomCodeVerifier,
  generateRandomState,
  None,
  processAuthorizationCodeResponse,
  validateAuthResponse,
} from 'oauth4webapi';
import type { Credentials } from '../store/token-store.ts';
import { parseNamedAddress, requireSecure } from './address.ts';
import { identified, toCredentials } from './credentials.ts';
import { defaultScope, type DiscoveredServer } from './discovery.ts';
import { LoginError } from './login-error.ts';
import { judged, requestOptions } from './oauth-fetch.ts';

export interface AuthorizationRequest {
  readonly redirectUri: string;
  /** Space-separated. Default: the scopes of the specification. */
  readonly scope?: string | undefined;
  /** The organization to log in to, where the account has several. */
  readonly organizationId?: string | undefined;
}

/** An authorization request that was made and not yet answered. Keep it to yourself: it holds the PKCE verifier. */
export interface PendingAuthorization {
  /** The parameters of the request (RFC 6749 4.1.1, RFC 7636 4.3). */
  readonly parameters: {
    readonly response_type: 'code';
    readonly client_id: string;
    readonly redirect_uri: string;
    readonly scope: string;
    readonly state: string;
    readonly code_challenge: string;
    readonly code_challenge_method: 'S256';
  };
  readonly organizationId?: string;
  readonly codeVerifier: string;
}

/** Makes an authorization request: a fresh state, a fresh PKCE pair. */
export async function beginAuthorization(
  server: DiscoveredServer,
  { redirectUri, scope = defaultScope(server.options), organizationId }: AuthorizationRequest,
): Promise<PendingAuthorization> {
  const codeVerifier = generateRandomCodeVerifier();
  return {
    parameters: {
      response_type: 'code',
      client_id: server.client.client_id,
      redirect_uri: redirectUri,
      scope,
      state: generateRandomState(),
      code_challenge: await calculatePKCECodeChallenge(codeVerifier),
      code_challenge_method: 'S256',
    },
    ...(organizationId !== undefined && { organizationId }),
    codeVerifier,
  };
}

/** The address that a browser opens to answer the request. Throws `LoginError` `unsupported` where the server has none. */
export function authorizationUrl(
  { metadata, options }: DiscoveredServer,
  { parameters, organizationId }: PendingAuthorization,
): string {
  if (metadata.authorization_endpoint === undefined) {
    throw new LoginError('unsupported', `${options.baseUrl} offers no login by browser.`);
  }
  const url = parseNamedAddress(metadata.authorization_endpoint, options.baseUrl);
  requireSecure(url, options.allowInsecureHttp ?? false);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  if (organizationId !== undefined) url.searchParams.set('organization_uuid', organizationId);
  return url.href;
}

/**
 * Looks whether the address that a browser is about to open is one of an authorization server: a person would look at somebody's
 * 404 page, and the login would wait. Throws its `ServiceError`.
 */
export async function requireAuthorizationPage(
  { metadata, options }: DiscoveredServer,
  signal?: AbortSignal,
): Promise<void> {
  const { authorization_endpoint: url = '' } = metadata;
  const call = requestOptions(options, contract.oauth.authorizePage, { signal });
  try {
    await call[customFetch](url, { method: 'GET', headers: { accept: 'text/html' } });
  } catch (error) {
    // A request without parameters is refused by any that is one (RFC 6749 4.1.2.1).
    if (!(error instanceof ServiceError) || error.status === 404) throw error;
  }
}

/**
 * Checks the redirect that answered the request (state, RFC 9207's `iss`) and exchanges its code.
 * Throws `LoginError` `denied`, `state_mismatch`, `issuer_mismatch`; `ServiceError`, `TransportError`.
 */
export async function finishAuthorization(
  server: DiscoveredServer,
  pending: PendingAuthorization,
  redirect: URL,
  signal?: AbortSignal,
): Promise<Credentials> {
  const { metadata, client, options } = server;
  const callback = answerOf(server, pending, redirect.searchParams);
  const requestedAt = (options.clock ?? systemClock).now();
  const answer = await judged(options.baseUrl, async () => {
    const response = await authorizationCodeGrantRequest(
      metadata,
      client,
      None(),
      callback,
      pending.parameters.redirect_uri,
      pending.codeVerifier,
      requestOptions(options, contract.oauth.token, { signal }),
    );
    return processAuthorizationCodeResponse(metadata, client, response);
  });
  const { organizationId, parameters } = pending;
  const known = { scope: parameters.scope, ...(organizationId !== undefined && { organizationId }) };
  return identified(options, toCredentials(server, answer, known, requestedAt), signal);
}

function answerOf(
  { metadata, client, options }: DiscoveredServer,
  pending: PendingAuthorization,
  answer: URLSearchParams,
) {
  try {
    return validateAuthResponse(metadata, client, answer, pending.parameters.state);
  } catch (cause) {
    if (cause instanceof AuthorizationResponseError) {
      const description = cause.error_description ?? cause.error;
      if (cause.error === 'access_denied')
        throw new LoginError('denied', 'The request was denied.', { cause });
      throw new ServiceError(cause.error, description, { cause });
    }
    if (answer.get('state') !== pending.parameters.state) {
      throw new LoginError('state_mismatch', 'The answer belongs to another login (its state differs).', {
        cause,
      });
    }
    if (answer.get('iss') !== metadata.issuer) {
      const from = answer.get('iss') ?? 'no one';
      throw new LoginError('issuer_mismatch', `The answer is from ${from}, not from ${metadata.issuer}.`, {
        cause,
      });
    }
    throw new TransportError('unexpected_answer', `${options.baseUrl} redirected against the standard`, {
      cause,
    });
  }
}
