/**
 * Every error code of the service with the HTTP status it answers with: the one table.
 * A code is stable; users match on it. `docs/errors.md` mirrors this table.
 */
export const errorStatus = {
  invalid_request: 400,
  invalid_grant: 400,
  invalid_scope: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  unauthorized_client: 400,
  authorization_pending: 400,
  slow_down: 400,
  access_denied: 400,
  expired_token: 400,
  invalid_otlp: 400,
  invalid_token: 401,
  device_revoked: 401,
  invalid_client: 401,
  forbidden: 403,
  insufficient_scope: 403,
  beta_not_enabled: 403,
  zdr_org: 403,
  quota_exceeded: 403,
  not_found: 404,
  environment_deleted: 404,
  method_not_allowed: 405,
  conflict: 409,
  already_registered: 409,
  ack_already_processed: 409,
  work_stopped: 409,
  stale_epoch: 409,
  session_active: 409,
  session_ended: 409,
  already_archived: 409,
  payload_too_large: 413,
  too_many_events: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  headers_too_large: 431,
  rate_limited: 429,
  temporarily_unavailable: 429,
  internal_error: 500,
  not_implemented: 501,
  upstream_required: 501,
  upstream_unreachable: 502,
  upstream_unfit: 502,
  store_unavailable: 503,
  overloaded: 503,
  draining: 503,
  upstream_timeout: 504,
} as const;

export type ErrorCode = keyof typeof errorStatus;

/** One bad field of a request; `path` is slash-joined (`events/17/body`). Never carries the value. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

export interface ServiceErrorOptions {
  /** Overrides the table's status, where one endpoint lists another one for the code. */
  readonly status?: number;
  readonly issues?: readonly Issue[];
  /** Further members of the JSON body, such as `environment_id` of `already_registered`. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Milliseconds until a retry may succeed; sent as `Retry-After` in whole seconds, rounded up. */
  readonly retryAfterMs?: number;
  readonly requestId?: string;
  readonly cause?: unknown;
}

/** A code of the table, or one that another server made up: users get whatever came over the wire. */
export type AnyErrorCode = ErrorCode | (string & Record<never, never>);

/** What the service says when it refuses: thrown by the engines, rendered by the gateway, thrown again by the client. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: AnyErrorCode;
  readonly status: number;
  readonly issues: readonly Issue[];
  readonly details: Readonly<Record<string, unknown>>;
  readonly retryAfterMs: number | undefined;
  readonly requestId: string | undefined;

  constructor(code: AnyErrorCode, description: string, options: ServiceErrorOptions = {}) {
    super(description, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status ?? statusOf(code);
    this.issues = options.issues ?? [];
    this.details = options.details ?? {};
    this.retryAfterMs = options.retryAfterMs;
    this.requestId = options.requestId;
  }
}

/** To whoever comes from, or by way of, a machine that its account trusts no more. */
export function deviceRevoked(): ServiceError {
  return new ServiceError(
    'device_revoked',
    'This device is trusted no more: its account, or an admin, revoked it. Trust it anew to go on.',
  );
}

function statusOf(code: string): number {
  return Object.hasOwn(errorStatus, code) ? errorStatus[code as ErrorCode] : 500;
}

/** The one error shape of the wire (docs/errors.md). */
export interface ErrorBody {
  readonly error: string;
  readonly error_description: string;
  readonly request_id: string;
  readonly issues?: readonly Issue[];
  readonly [detail: string]: unknown;
}

export function toErrorBody(error: ServiceError, requestId: string): ErrorBody {
  return {
    ...error.details,
    error: error.code,
    error_description: error.message,
    request_id: requestId,
    ...(error.issues.length > 0 && { issues: error.issues }),
  };
}

/** Why a request got no answer of the service. */
export type TransportErrorCode = 'unreachable' | 'insecure' | 'timeout' | 'aborted' | 'unexpected_answer';

/** The network's failure, as opposed to the service's refusal. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly code: TransportErrorCode;

  constructor(code: TransportErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
