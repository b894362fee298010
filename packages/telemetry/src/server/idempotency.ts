import { hash } from 'node:crypto';
import { ServiceError } from '@sallyport/core';

/** What tells a request from another one under the same key. */
export function fingerprintOf(content: string | Uint8Array): string {
  return hash('sha256', content, 'base64url');
}

/** Whether a request is one that came before under its key: called by a store within its transaction. */
export function judgeReplay(seenFingerprint: string | undefined, fingerprint: string): boolean {
  if (seenFingerprint === undefined) return false;
  if (seenFingerprint === fingerprint) return true;
  throw new ServiceError('invalid_request', 'This Idempotency-Key came with other records before.', {
    issues: [{ path: 'headers/idempotency-key', message: 'must be a new one for other records' }],
  });
}
