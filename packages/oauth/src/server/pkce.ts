import { createHash } from 'node:crypto';
import { sameSecret } from './secrets.ts';

/** RFC 7636 4.1. */
export function isVerifier(text: string): boolean {
  return /^[A-Za-z0-9\-._~]{43,128}$/.test(text);
}

/** RFC 7636 4.2: the base64url of a SHA-256. */
export function isChallenge(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** RFC 7636 4.6, method S256. */
export function verifierFits(verifier: string, challenge: string): boolean {
  return sameSecret(createHash('sha256').update(verifier).digest('base64url'), challenge);
}
