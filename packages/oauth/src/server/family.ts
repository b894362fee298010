import type { Family } from './records.ts';
import { refused, type Refused } from './refusal.ts';
import { isWithin } from './scopes.ts';

export interface RefreshTerms {
  readonly graceMs: number;
  readonly idleMs: number;
  readonly absoluteMs: number;
}

/** A refresh token that was presented, its MAC checked; `scope` is what the request narrows to. */
export interface PresentedRefresh {
  readonly clientId: string;
  readonly generation: number;
  readonly scope: string | undefined;
}

export type RefreshVerdict =
  /** `family` is the state to save. */
  | { readonly outcome: 'rotated'; readonly family: Family }
  /** The same successor again: nothing changes. */
  | { readonly outcome: 'repeated'; readonly family: Family }
  /** Theft: `family` is the state to save. */
  | (Omit<Refused, 'outcome'> & { readonly outcome: 'revoked'; readonly family: Family })
  | Refused;

export const unknownRefreshToken = refused('invalid_grant', 'The refresh token is not known.');

/** Rotations remembered; a token rotated before them counts as stolen, whatever the grace. */
const keptRotations = 32;

/** A login begins: its first refresh token is generation 1. */
export function beginFamily(
  id: string,
  grant: Pick<Family, 'clientId' | 'accountId' | 'organizationId' | 'scope' | 'address'>,
  now: number,
  terms: RefreshTerms,
): Family {
  const { clientId, accountId, organizationId, scope, address } = grant;
  return {
    id,
    clientId,
    accountId,
    organizationId,
    scope,
    address,
    generation: 1,
    rotations: [],
    createdAt: now,
    idleExpiresAt: now + terms.idleMs,
    expiresAt: now + terms.absoluteMs,
    revokedAt: null,
  };
}

/**
 * Judges a refresh (RFC 9700 4.14.2, with a grace for clients that retry): the newest token rotates; the one before it,
 * within the grace, gets the same successor; older ones within their own grace are late losers of a race; all others are
 * stolen. `family` is `undefined` where it is unknown or its account has left the organization.
 */
export function judgeRefresh(
  family: Family | undefined,
  presented: PresentedRefresh,
  now: number,
  terms: RefreshTerms,
): RefreshVerdict {
  if (!family || family.clientId !== presented.clientId || presented.generation > family.generation)
    return unknownRefreshToken;
  if (family.revokedAt !== null) return refused('invalid_grant', 'The login was revoked: log in again.');
  if (now >= family.idleExpiresAt || now >= family.expiresAt)
    return refused('invalid_grant', 'The refresh token has expired: log in again.');

  const age = family.generation - presented.generation;
  if (age > 0) {
    const sinceMs = now - (family.rotations[age - 1] ?? -Infinity);
    if (terms.graceMs === 0 || sinceMs > terms.graceMs) return revoked(family, now);
    // By a clock that was set far back nobody can tell a retry from a theft: it ends no login, and gives no token.
    if (age > 1 || sinceMs < -terms.graceMs)
      return refused('invalid_grant', 'A newer refresh token is in use.');
  }
  // After the replay check, which a bad scope must not evade; before the rotation, which it must not cost.
  if (presented.scope !== undefined && !isWithin(presented.scope, family.scope))
    return refused('invalid_scope', 'The scope exceeds what was granted.');
  return age > 0
    ? { outcome: 'repeated', family }
    : { outcome: 'rotated', family: rotate(family, now, terms) };
}

function rotate(family: Family, now: number, terms: RefreshTerms): Family {
  return {
    ...family,
    generation: family.generation + 1,
    rotations: [now, ...family.rotations].slice(0, keptRotations),
    idleExpiresAt: now + terms.idleMs,
  };
}

function revoked(family: Family, now: number): RefreshVerdict {
  return {
    outcome: 'revoked',
    family: { ...family, revokedAt: now },
    code: 'invalid_grant',
    description: 'The refresh token was used before; the login is revoked.',
  };
}
