/** Headers that no row lists, because they go with every call or every answer: in neutral words, lower-case. */
export const headerNames = {
  /** A list of the betas that the caller takes part in. */
  beta: 'vendor-beta',
  /** The version of a worker's stream. */
  version: 'vendor-version',
  /** An API key, where it does not come as a bearer. */
  apiKey: 'x-api-key',
  requestId: 'request-id',
  /** Seconds until a retry may succeed. */
  retryAfter: 'retry-after',
} as const;

/** Headers that carry a secret: never logged. */
export const secretHeaders: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  headerNames.apiKey,
  'x-trusted-device-token',
  'x-worker-token',
];
