import { z } from 'zod';
import { organizationTypes, roles } from '../organization.ts';
import { Timestamp, Uuid } from './common.ts';
import { Name } from './name.ts';

/** RFC 7636 4.2: the base64url of a SHA-256, 43 characters. */
const CodeChallenge = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'must be 43 base64url characters');

/** Fields by `grant_type`; which ones a grant needs is the token endpoint's business (RFC 6749 5.2 orders its checks). */
export const TokenRequest = z.looseObject({
  grant_type: z.exactOptional(z.string()),
  client_id: z.exactOptional(z.string()),
  code: z.exactOptional(z.string()),
  code_verifier: z.exactOptional(z.string()),
  redirect_uri: z.exactOptional(z.string()),
  refresh_token: z.exactOptional(z.string()),
  device_code: z.exactOptional(z.string()),
  scope: z.exactOptional(z.string()),
});
export type TokenRequest = z.infer<typeof TokenRequest>;

export const TokenResponse = z.looseObject({
  access_token: z.string(),
  token_type: z.exactOptional(z.string()),
  refresh_token: z.exactOptional(z.string()),
  expires_in: z.number().int().describe('seconds'),
  scope: z.exactOptional(z.string()),
});
export type TokenResponse = z.infer<typeof TokenResponse>;

export const AuthorizeParams = z.object({ org_uuid: Uuid });

export const AuthorizeRequest = z.looseObject({
  response_type: z.literal('code'),
  client_id: z.string().min(1),
  organization_uuid: z.string().min(1),
  redirect_uri: z.string().min(1),
  scope: z.exactOptional(z.string()),
  state: z.string().min(1),
  code_challenge: CodeChallenge,
  code_challenge_method: z.literal('S256'),
});
export type AuthorizeRequest = z.infer<typeof AuthorizeRequest>;

export const AuthorizeResponse = z.looseObject({
  redirect_uri: z.string().describe('the redirect address with `code` and `state` in its query'),
});

export const DeviceAuthorizationRequest = z.looseObject({
  client_id: z.string(),
  scope: z.exactOptional(z.string()),
});

export const DeviceAuthorizationResponse = z.looseObject({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  verification_uri_complete: z.exactOptional(z.string()),
  expires_in: z.number().int().describe('seconds'),
  interval: z.number().int().describe('minimum seconds between polls'),
});
export type DeviceAuthorizationResponse = z.infer<typeof DeviceAuthorizationResponse>;

/** RFC 8414. */
export const AuthorizationServerMetadata = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: z.string(),
  token_endpoint: z.string(),
  device_authorization_endpoint: z.string(),
  jwks_uri: z.string(),
  response_types_supported: z.array(z.string()),
  grant_types_supported: z.array(z.string()),
  code_challenge_methods_supported: z.array(z.string()),
  token_endpoint_auth_methods_supported: z.array(z.string()),
  scopes_supported: z.array(z.string()),
  claims_supported: z.array(z.string()),
});
export type AuthorizationServerMetadata = z.infer<typeof AuthorizationServerMetadata>;

/** RFC 7517. */
export const JsonWebKeySet = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })) });

export const RevocationRequest = z.looseObject({
  token: z.exactOptional(z.string()),
  token_type_hint: z.exactOptional(z.string()),
  client_id: z.exactOptional(z.string()),
});

export const IntrospectionRequest = z.looseObject({
  token: z.exactOptional(z.string()),
  token_type_hint: z.exactOptional(z.string()),
});

/** RFC 7662 2.2; of a token that is not active nothing is told. */
export const IntrospectionResponse = z.looseObject({
  active: z.boolean(),
  scope: z.exactOptional(z.string()),
  client_id: z.exactOptional(z.string()),
  token_type: z.exactOptional(z.string()),
  exp: z.exactOptional(z.number().int()),
  sub: z.exactOptional(z.string()),
  aud: z.exactOptional(z.string()),
  iss: z.exactOptional(z.string()),
  jti: z.exactOptional(z.string()),
  org: z.exactOptional(z.string()),
});
export type IntrospectionResponse = z.infer<typeof IntrospectionResponse>;

export const Profile = z.looseObject({
  organization: z.looseObject({
    organization_type: z.string().describe(`One of \`${organizationTypes.join('`, `')}\``),
    rate_limit_tier: z.string(),
    uuid: z.exactOptional(z.string()),
    name: z.exactOptional(z.string()),
  }),
  account: z.exactOptional(
    z.looseObject({ uuid: z.string(), email: z.string(), role: z.exactOptional(z.string()) }),
  ),
});
export type Profile = z.infer<typeof Profile>;

/** The specification shows no body; a name is what a list of keys can be read by. */
export const CreateApiKeyRequest = z.looseObject({
  name: z.exactOptional(Name),
  scope: z
    .exactOptional(z.string())
    .describe("separated by spaces; within the caller's, which is the default"),
  expires_in: z.exactOptional(z.number().int().min(1).max(315_360_000)).describe('seconds; default: never'),
});

export const ApiKeys = z.looseObject({
  api_keys: z.array(
    z.looseObject({
      id: z.string(),
      name: z.string().nullable(),
      scope: z.string(),
      created_at: Timestamp,
      expires_at: Timestamp.nullable().describe('`null`: never'),
      last_used_at: Timestamp.nullable().describe('to the minute; `null`: never'),
    }),
  ),
});

export const Roles = z.looseObject({
  roles: z.array(z.looseObject({ name: z.enum(roles), permissions: z.array(z.string()) })),
});
export type Roles = z.infer<typeof Roles>;
