import { ServiceError, type ErrorCode } from '@sallyport/core';

/** What a judgement says no with: plain data, so that it leaves the act that has saved the state going with it. */
export interface Refused {
  readonly outcome: 'refused';
  readonly code: ErrorCode;
  /** ASCII, without a secret (RFC 6749 5.2). */
  readonly description: string;
}

export function refused(code: ErrorCode, description: string): Refused {
  return { outcome: 'refused', code, description };
}

export function toServiceError({ code, description }: Refused): ServiceError {
  return new ServiceError(code, description);
}
