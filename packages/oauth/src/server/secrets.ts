import { hash, timingSafeEqual } from 'node:crypto';
import { randomSecret, type Random } from '@sallyport/core';

/**
 * What each opaque secret begins with: it tells a reader, and whoever redacts logs, what it is.
 * Refresh tokens are made in `refresh-token.ts`, API keys in `api-keys.ts`.
 */
export const secretPrefixes = {
  session: 'sps_',
  code: 'spc_',
  deviceCode: 'spd_',
  trustedDevice: 'spt_',
  setup: 'spl_',
  apiKey: 'sk-',
} as const;

/** A 256-bit secret with its prefix. */
export function newSecret(random: Random, kind: Exclude<keyof typeof secretPrefixes, 'apiKey'>): string {
  return secretPrefixes[kind] + randomSecret(random);
}

/** What the store keeps of a secret: 256 random bits need no salt and no slow hash. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

/** Compares in a time that tells nothing of where the texts differ. */
export function sameSecret(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
