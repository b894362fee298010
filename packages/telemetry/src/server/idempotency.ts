import { ServiceError } from '@sallyport/core';

/** Whether a batch is one that came before under its key: called by a store within its transaction. */
export function judgeReplay(seenFingerprint: string | undefined, fingerprint: string): boolean {
  if (seenFingerprint === undefined) return false;
  if (seenFingerprint === fingerprint) return true;
  throw new ServiceError('invalid_request', 'This Idempotency-Key came with other events before.', {
    issues: [{ path: 'headers/idempotency-key', message: 'must be a new one for other events' }],
  });
}
