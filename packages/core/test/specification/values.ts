/** The single values of the specification: limits, lists, rules. Written down by hand. */

export const limits = {
  tokenRetryPausesMs: [500, 1000],
  profileTimeoutMs: 3_000,
  feedbackTimeoutMs: 60_000,
  feedbackDescriptionCharacters: 20_000,
  /** "about 50 MB": anything from 50 000 000 to 50 MiB and the wrapping of a form. */
  feedbackBytes: { least: 50_000_000, most: 55_000_000 },
  settingsTimeoutMs: 10_000,
  batchEvents: 50,
  batchFlushMs: 60_000,
  managedPage: 50,
  organizationPage: 100,
} as const;

export const scopes = ['openid', 'profile', 'email', 'vendor_api'] as const;

export const grantTypes = [
  'authorization_code',
  'refresh_token',
  'urn:ietf:params:oauth:grant-type:device_code',
] as const;

export const events = {
  severities: { info: 9, error: 17 },
  valueKinds: ['stringValue', 'intValue', 'doubleValue', 'boolValue', 'arrayValue', 'kvlistValue'],
} as const;

export const streamVersion = '2023-06-01';

export const betas = {
  'ccr-byoc-2025-07-29': ['POST /v1/sessions'],
  'managed-agents-2026-04-01': [
    'POST /v1/environments',
    'GET /v1/environments/{env_id}',
    'POST /v1/environments/{env_id}',
    'GET /v1/environments',
    'DELETE /v1/environments/{env_id}',
    'POST /v1/environments/{env_id}/archive',
  ],
  'oauth-2025-04-20': ['GET /api/agent_code/settings'],
} as const;

/** The errors with a shown body: the value of `error` and its status. */
export const feedbackErrors = { payload_too_large: 413, zdr_org: 403 } as const;

/** Addresses that the text names without a request shape: in the discovery document, in "Other surface named". */
export const named = [
  'GET /v1/oauth/authorize',
  'GET /.well-known/jwks.json',
  'GET /v1/sessions/{id}',
  'DELETE /v1/sessions/{id}',
  'GET /v1/sessions/{id}/events/stream',
] as const;

/** Path families of which nothing but the name is shown. */
export const families = [
  '/v1/models',
  '/v1/messages',
  '/v1/agents',
  '/v1/vaults',
  '/v1/memory_stores',
  '/v1/files',
  '/v1/skills',
  '/v1/user_profiles',
  '/api/ws/voice',
] as const;
