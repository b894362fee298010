import { describe, expect, test } from 'vitest';
import { beginFamily, judgeRefresh, type RefreshTerms } from './family.ts';
import type { Family } from './records.ts';

const terms: RefreshTerms = { graceMs: 30_000, idleMs: 1e9, absoluteMs: 1e10 };
const grant = {
  clientId: 'client',
  accountId: 'a',
  organizationId: 'o',
  scope: 'openid profile',
  address: null,
};
const begun = beginFamily('f', grant, 0, terms);

/** Rotated at each of these times. */
function rotatedAt(...times: readonly number[]): Family {
  return times.reduce((family, now) => {
    const verdict = judgeRefresh(family, present(family.generation), now, terms);
    if (verdict.outcome !== 'rotated') throw new Error(verdict.outcome);
    return verdict.family;
  }, begun);
}

function present(generation: number, scope?: string, clientId = 'client') {
  return { clientId, generation, scope };
}

describe('each row of the table of refreshes', () => {
  test.each<[string, Family | undefined, ReturnType<typeof present>, number, string]>([
    ['the newest', rotatedAt(10), present(2), 20, 'rotated'],
    ['the one before, at the end of the grace', rotatedAt(10), present(1), 30_010, 'repeated'],
    ['the one before, after it', rotatedAt(10), present(1), 30_011, 'revoked'],
    ['an older one within its own grace', rotatedAt(10, 20), present(1), 30_010, 'refused'],
    [
      'an older one after its own grace, within that of the next',
      rotatedAt(10, 20),
      present(1),
      30_011,
      'revoked',
    ],
    ['the one before, seen by a clock that went back', rotatedAt(10_000), present(1), 0, 'repeated'],
    [
      'the one before, seen by a clock that went back by more than the grace',
      rotatedAt(30_011),
      present(1),
      10,
      'refused',
    ],
    ['a generation that was never given', rotatedAt(10), present(3), 20, 'refused'],
    ["another client's newest", rotatedAt(10), present(2, undefined, 'other'), 20, 'refused'],
    ["another client's stolen one", rotatedAt(10), present(1, undefined, 'other'), 60_000, 'refused'],
    ['one of no family', undefined, present(1), 20, 'refused'],
    ['a subset of the scope', begun, present(1, 'openid'), 20, 'rotated'],
    ['a superset of the scope', begun, present(1, 'openid root'), 20, 'refused'],
    ['a superset of the scope with a stolen one', rotatedAt(10), present(1, 'root'), 60_000, 'revoked'],
    ['one that was not used for the idle time', begun, present(1), 1e9, 'refused'],
    ['one of a revoked login', { ...begun, revokedAt: 5 }, present(1), 20, 'refused'],
  ])('%s', (_case, family, presented, now, outcome) => {
    expect(judgeRefresh(family, presented, now, terms).outcome).toBe(outcome);
  });

  test('beyond the rotations that are remembered, an old one is stolen even within the grace', () => {
    const family = rotatedAt(...Array.from({ length: 40 }, (_, index) => index));
    expect(judgeRefresh(family, present(9), 50, terms).outcome).toBe('refused');
    expect(judgeRefresh(family, present(8), 50, terms).outcome).toBe('revoked');
  });

  test('use moves the idle expiry, never the absolute one', () => {
    const family = rotatedAt(5e8, 1.2e9);
    expect([family.idleExpiresAt, family.expiresAt]).toEqual([2.2e9, 1e10]);
  });
});
