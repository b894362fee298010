import { isLoginRequired, ServiceError } from '@sallyport/core';
import { isForeignPage } from '@sallyport/core/client';

/** What a failed call means for a client that lives on. */
export type FailureJudgement =
  /** The network, an overload, a proxy's page: back off and try again. */
  | { readonly kind: 'retry'; readonly retryAfterMs: number | undefined }
  /** The login is no longer good; a person has to act. */
  | { readonly kind: 'login_required' }
  /** This machine's device is trusted no more; a person has to trust it anew. */
  | { readonly kind: 'device_revoked' }
  /** This account may not. */
  | { readonly kind: 'refused' }
  /** There is no such thing (any more). */
  | { readonly kind: 'missing'; readonly code: string }
  | {
      readonly kind: 'conflict';
      readonly code: string;
      readonly details: ServiceError['details'];
      readonly retryAfterMs: number | undefined;
    };

/** Pauses for what time alone does not cure. */
export const pauseMs = { login_required: 5 * 60_000, refused: 60_000 } as const;

export function judgeFailure(error: unknown): FailureJudgement {
  if (isLoginRequired(error)) return { kind: 'login_required' };
  if (!(error instanceof ServiceError)) return { kind: 'retry', retryAfterMs: undefined };
  const { status, code, details, retryAfterMs } = error;
  // A captive portal, or a proxy before a service that is being replaced: it knows nothing of our work.
  if (isForeignPage(error)) return { kind: 'retry', retryAfterMs };
  if (code === 'device_revoked') return { kind: 'device_revoked' };
  if (status === 401 || code === 'invalid_grant') return { kind: 'login_required' };
  if (status === 403) return { kind: 'refused' };
  if (status === 404) return { kind: 'missing', code };
  if (status === 409) return { kind: 'conflict', code, details, retryAfterMs };
  return { kind: 'retry', retryAfterMs };
}

export function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
