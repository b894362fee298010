import type { Random } from './random.ts';

/**
 * Full jitter: uniform in [0, min(cap, base * 2^attempt)), `attempt` from 0. The draw comes after the cap, or all clients
 * that reached it would come back together (fleetdm/fleet 53357).
 */
export function fullJitter(
  random: Random,
  attempt: number,
  { baseMs = 1000, capMs = 60_000 }: { readonly baseMs?: number; readonly capMs?: number } = {},
): number {
  return random.fraction() * Math.min(capMs, baseMs * 2 ** attempt);
}
