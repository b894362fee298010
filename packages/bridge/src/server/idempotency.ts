import { createHash } from 'node:crypto';
import type { Context } from './context.ts';
import type { Idempotency } from './acts.ts';

/** What makes a repeated request known by its `Idempotency-Key`, if it has one. */
export function idempotencyOf(
  { clock, config }: Context,
  key: string | undefined,
  request: object,
): Idempotency | undefined {
  if (key === undefined) return undefined;
  const since = clock.now() - config.idempotencySeconds * 1000;
  // A retry sends the same bytes, so the order of members may count.
  const fingerprint = createHash('sha256').update(JSON.stringify(request)).digest('base64url');
  return { key, fingerprint, since };
}
