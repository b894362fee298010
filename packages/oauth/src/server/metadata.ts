import { inDialect } from '@sallyport/core';
import { contract, scopes, type AuthorizationServerMetadata } from '@sallyport/core/contract';
import { allGrantTypes } from './clients.ts';
import type { Context } from './context.ts';

/** The discovery document (RFC 8414). */
export function createMetadata({
  issuer,
  dialect,
  config,
}: Pick<Context, 'issuer' | 'dialect' | 'config'>): AuthorizationServerMetadata {
  const { oauth } = contract;
  return {
    issuer,
    authorization_endpoint: issuer + oauth.authorizePage.path,
    token_endpoint: issuer + oauth.token.path,
    device_authorization_endpoint: issuer + oauth.deviceAuthorization.path,
    jwks_uri: issuer + oauth.jwks.path,
    response_types_supported: ['code'],
    grant_types_supported: [...allGrantTypes],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    scopes_supported: scopes.map((scope) => inDialect(scope, dialect)),
    claims_supported: ['sub', 'iss', 'aud', 'exp', 'iat'],
    revocation_endpoint: issuer + oauth.revoke.path,
    revocation_endpoint_auth_methods_supported: ['none'],
    // RFC 8414 2: an access token stands for an authentication method under its type's name.
    ...(config.introspection && {
      introspection_endpoint: issuer + oauth.introspect.path,
      introspection_endpoint_auth_methods_supported: ['Bearer'],
    }),
    // A client that is told so refuses a redirect without it, so the two go together (RFC 9207 3).
    ...(config.issParameter && { authorization_response_iss_parameter_supported: true }),
  };
}
