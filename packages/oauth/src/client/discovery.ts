import { inDialect, neutralDialect, ServiceError } from '@sallyport/core';
import { endpointUrl } from '@sallyport/core/client';
import { contract, firstPartyClient, scopes, type Endpoint } from '@sallyport/core/contract';
import {
  customFetch,
  JSON_ATTRIBUTE_COMPARISON,
  OperationProcessingError,
  processDiscoveryResponse,
  type AuthorizationServer,
  type Client,
} from 'oauth4webapi';
import { parseAddress, requireSecure } from './address.ts';
import { LoginError } from './login-error.ts';
import { judged, requestOptions, type OAuthOptions } from './oauth-fetch.ts';

/** An authorization server that was looked up: what every step of a login starts from. */
export interface DiscoveredServer {
  readonly options: OAuthOptions;
  readonly metadata: AuthorizationServer;
  readonly client: Client;
  /** Nothing was found: the metadata is the specification's, and whether anything is at its addresses is not known. */
  readonly isAssumed: boolean;
}

/**
 * Looks the authorization server up (RFC 8414): where the specification has the document, else where OpenID Connect has it.
 * A service without discovery (404) is taken to have the specification's paths.
 *
 * Throws `LoginError` `issuer_mismatch`, `insecure_address` or `invalid_address`, `ServiceError`, `TransportError`.
 */
export async function discover(options: OAuthOptions, signal?: AbortSignal): Promise<DiscoveredServer> {
  const expected = parseAddress(options.issuer ?? options.baseUrl);
  requireSecure(parseAddress(options.baseUrl), options.allowInsecureHttp ?? false);
  const client = { client_id: options.clientId ?? firstPartyClient.id };
  for (const row of [contract.oauth.discovery, contract.oauth.openidConfiguration]) {
    const answer = await ask(options, row, signal);
    if (!answer) continue;
    return {
      options,
      client,
      metadata: await metadataOf(answer, expected, options.baseUrl),
      isAssumed: false,
    };
  }
  return { options, client, metadata: specifiedMetadata(options), isAssumed: true };
}

async function ask(
  options: OAuthOptions,
  row: Endpoint,
  signal?: AbortSignal,
): Promise<Response | undefined> {
  const request = { method: row.method, headers: { accept: 'application/json' } };
  const url = endpointUrl(options.baseUrl, row, {}, options.dialect);
  try {
    return await requestOptions(options, row, { signal })[customFetch](url, request);
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}

async function metadataOf(answer: Response, expected: URL, baseUrl: string): Promise<AuthorizationServer> {
  return judged(baseUrl, async () => {
    try {
      return await processDiscoveryResponse(expected, answer);
    } catch (cause) {
      if (!(cause instanceof OperationProcessingError) || cause.code !== JSON_ATTRIBUTE_COMPARISON)
        throw cause;
      const { issuer } = (cause.cause as { body: AuthorizationServer }).body;
      throw new LoginError('issuer_mismatch', `${baseUrl} goes by another issuer: ${issuer}.`, { cause });
    }
  });
}

function specifiedMetadata({ baseUrl, issuer = baseUrl, dialect }: OAuthOptions): AuthorizationServer {
  const at = (row: Endpoint) => endpointUrl(baseUrl, row, {}, dialect);
  return {
    issuer,
    authorization_endpoint: at(contract.oauth.authorizePage),
    token_endpoint: at(contract.oauth.token),
    device_authorization_endpoint: at(contract.oauth.deviceAuthorization),
    revocation_endpoint: at(contract.oauth.revoke),
  };
}

/** What a login asks for where the caller names no scope: the scopes of the specification, in the dialect. */
export function defaultScope({ dialect = neutralDialect }: OAuthOptions): string {
  return scopes.map((scope) => inDialect(scope, dialect)).join(' ');
}
