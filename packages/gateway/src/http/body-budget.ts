import { ServiceError } from '@sallyport/core';

/** What one request holds of the budget while it is served. */
export interface HeldBytes {
  /** Throws `overloaded` (503 with `Retry-After`) where all bodies together would be too much. */
  take(bytes: number): void;
  release(): void;
}

export interface BodyBudget {
  hold(): HeldBytes;
}

/** Bounds the bodies in memory of all requests together: one body's limit does not bound a thousand of them. */
export function createBodyBudget(maxBytes: number): BodyBudget {
  let total = 0;
  return {
    hold() {
      let held = 0;
      return {
        take(bytes) {
          if (total + bytes > maxBytes)
            throw new ServiceError('overloaded', 'Too many large requests are being served.', {
              retryAfterMs: 1000,
            });
          held += bytes;
          total += bytes;
        },
        release() {
          total -= held;
          held = 0;
        },
      };
    },
  };
}
