import { ServiceError, toErrorBody, type Issue } from '@sallyport/core';
import { headerNames, mediaTypes, type Endpoint } from '@sallyport/core/contract';

/** What an error becomes on the wire. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

export interface RefusalContext {
  readonly requestId: string;
  readonly endpoint?: Endpoint | undefined;
  /** Whether a credential came along: only then is one called invalid (RFC 6750 3.1). */
  readonly sentCredential: boolean;
  /** The issuer, in `WWW-Authenticate`. */
  readonly realm: string;
}

/** Renders an error in the one shape of docs/errors.md with the headers that go with its code. */
export function toRefusal(error: ServiceError, context: RefusalContext): Refusal {
  const { endpoint, requestId } = context;
  const challenge = challengeFor(error, context);
  return {
    status: error.status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      ...(endpoint?.area === 'oauth' && { pragma: 'no-cache' }), // RFC 6749 5.1
      ...(error.retryAfterMs !== undefined && {
        [headerNames.retryAfter]: String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))),
      }),
      ...(challenge !== undefined && { 'www-authenticate': challenge }),
    },
    body: JSON.stringify(toErrorBody(error, requestId)),
  };
}

/** RFC 6750 3. The 401 of a token endpoint (`invalid_client`) is about no bearer, so it has none. */
function challengeFor(error: ServiceError, context: RefusalContext): string | undefined {
  const realm = `Bearer realm="${quotable(context.realm)}"`;
  if (error.code === 'invalid_token')
    return context.sentCredential ? `${realm}, error="invalid_token"` : realm;
  if (error.code !== 'insufficient_scope') return undefined;
  const scope = error.details['scope'];
  return `${realm}, error="insufficient_scope", scope="${typeof scope === 'string' ? quotable(scope) : ''}"`;
}

function quotable(text: string): string {
  return text.replace(/[^\x21\x23-\x5b\x5d-\x7e]/g, '');
}

/** Fastify's own errors, by code; any other with a status below 500 is a malformed request. */
const frameworkErrors: Readonly<Record<string, (endpoint?: Endpoint) => ServiceError>> = {
  FST_ERR_BAD_URL: () => new ServiceError('invalid_request', 'The path is not well-formed.'),
  FST_ERR_MAX_PARAM_LENGTH: () => new ServiceError('uri_too_long', 'A part of the path is too long.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: unsupportedMediaType,
};

/** What any thrown thing is to the caller. What is not ours is `internal_error`, and tells nothing. */
export function toServiceError(thrown: unknown, endpoint?: Endpoint): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const { code, statusCode } = (thrown ?? {}) as { code?: unknown; statusCode?: unknown };
  const known = typeof code === 'string' ? frameworkErrors[code] : undefined;
  if (known) return known(endpoint);
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new ServiceError('invalid_request', 'The request is malformed.', { status: statusCode });
  return new ServiceError(
    'internal_error',
    'Something went wrong here; the log knows more under this request id.',
    {
      cause: thrown,
    },
  );
}

export function unsupportedMediaType(endpoint?: Endpoint): ServiceError {
  const types = (endpoint?.encodings ?? ['json']).map((encoding) => mediaTypes[encoding][0]);
  return unsupported(endpoint, `The content type must be ${types.join(' or ')}.`);
}

/** The bad field by which the refusal of a content encoding is told from that of a content type. */
export const codingIssue = 'headers/content-encoding';

/** A form goes straight to its handler: nothing is decompressed on the way. */
export function acceptedCodings(endpoint: Endpoint | undefined): string {
  return endpoint?.transport === 'multipart' ? 'identity' : 'gzip, deflate';
}

export function unsupportedCoding(endpoint: Endpoint): ServiceError {
  const message = `must be one of: ${acceptedCodings(endpoint)}`;
  return unsupported(endpoint, `The content encoding ${message}.`, [{ path: codingIssue, message }]);
}

/** 415; at the OAuth endpoints 400 (RFC 6749 5.2 knows no other). */
function unsupported(
  endpoint: Endpoint | undefined,
  description: string,
  issues: readonly Issue[] = [],
): ServiceError {
  const code = endpoint?.area === 'oauth' ? 'invalid_request' : 'unsupported_media_type';
  return new ServiceError(code, description, { issues });
}
