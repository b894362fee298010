import { ServiceError, type ServiceErrorOptions } from '@sallyport/core';
import { StoreError, type StoreErrorCode } from './store-error.ts';

/**
 * An error as plain data. Structured clone would keep only the built-in classes, and drop `code` of those;
 * engines and routes must see the class and fields that the act threw.
 */
export type Thrown =
  | {
      readonly as: 'service';
      readonly code: string;
      readonly message: string;
      readonly options: ServiceErrorOptions;
    }
  | { readonly as: 'store'; readonly code: StoreErrorCode; readonly message: string }
  | {
      readonly as: 'other';
      readonly message: string;
      readonly stack: string;
      readonly fields: Readonly<Record<string, unknown>>;
    };

export function toThrown(error: unknown): Thrown {
  if (error instanceof ServiceError) {
    const { code, message, status, issues, details, retryAfterMs, cause } = error;
    const options = { status, issues, details, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    // The cause is for the log; of a library's error the message is all that is sure to cross.
    return {
      as: 'service',
      code,
      message,
      options: cause instanceof Error ? { ...options, cause: cause.message } : options,
    };
  }
  if (error instanceof StoreError) return { as: 'store', code: error.code, message: error.message };
  if (!(error instanceof Error)) return { as: 'other', message: String(error), stack: '', fields: {} };
  const scalars = Object.entries(error).filter(
    ([, value]) => typeof value === 'string' || typeof value === 'number',
  );
  return {
    as: 'other',
    message: error.message,
    stack: error.stack ?? '',
    fields: { ...Object.fromEntries(scalars), name: error.name },
  };
}

export function fromThrown(thrown: Thrown): Error {
  if (thrown.as === 'service') return new ServiceError(thrown.code, thrown.message, thrown.options);
  if (thrown.as === 'store') return new StoreError(thrown.code, thrown.message);
  const error = new Error(thrown.message);
  return Object.assign(error, thrown.fields, { stack: thrown.stack });
}
