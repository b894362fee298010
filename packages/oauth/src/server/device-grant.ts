import type { Random } from '@sallyport/core';
import { beginFamily, type RefreshTerms } from './family.ts';
import type { DeviceGrant, Family } from './records.ts';
import { refused, type Refused } from './refusal.ts';

export interface DeviceTerms extends RefreshTerms {
  readonly intervalMs: number;
}

export interface PresentedDeviceCode {
  readonly clientId: string;
  /** The id of the family that would begin. */
  readonly familyId: string;
}

export type PollVerdict =
  /** Save the grant, insert the family. */
  | { readonly outcome: 'issued'; readonly grant: DeviceGrant; readonly family: Family }
  /** Too early: save the grant, which slows down for good. */
  | { readonly outcome: 'slow_down'; readonly grant: DeviceGrant; readonly intervalMs: number }
  /** Pending: save the grant, whose clock moves. */
  | (Refused & { readonly grant?: DeviceGrant });

export type DecisionVerdict =
  /** Save the grant. */
  { readonly outcome: 'decided'; readonly grant: DeviceGrant } | Refused;

export const unknownUserCode = refused('not_found', 'This code is not known, or has expired.');

/** RFC 8628 3.5. */
const slowDownMs = 5000;
const maxSlowDowns = 5;
/** Polls that come this much early are on time: clocks and networks jitter. */
const toleranceMs = 1000;

/** Judges a poll (RFC 8628 3.4, 3.5). `grant` is `undefined` where it is unknown, or who approved it has left the organization. */
export function judgePoll(
  grant: DeviceGrant | undefined,
  presented: PresentedDeviceCode,
  now: number,
  terms: DeviceTerms,
): PollVerdict {
  if (!grant || grant.clientId !== presented.clientId || grant.state === 'used')
    return refused('invalid_grant', 'The device code is not known, or was used.');
  if (grant.state === 'denied') return refused('access_denied', 'The request was denied.');

  const intervalMs = terms.intervalMs + grant.slowDowns * slowDownMs;
  const { accountId, organizationId } = grant;
  if (grant.state === 'approved' && accountId !== null && organizationId !== null) {
    // Before the pace check, and past the expiry for two polls: an approval in the last second must not be lost.
    if (now >= grant.expiresAt + 2 * intervalMs)
      return refused('expired_token', 'The device code has expired.');
    return {
      outcome: 'issued',
      grant: { ...grant, state: 'used' },
      family: beginFamily(presented.familyId, { ...grant, accountId, organizationId }, now, terms),
    };
  }
  if (now >= grant.expiresAt) return refused('expired_token', 'The device code has expired.');
  const sinceMs = grant.lastPollAt === null ? Infinity : now - grant.lastPollAt;
  // A poll of the future tells of a clock that was set back: it would make every poll too early until then.
  if (sinceMs >= 0 && sinceMs < intervalMs - toleranceMs) {
    const slowDowns = Math.min(grant.slowDowns + 1, maxSlowDowns);
    // The refused poll does not move the clock, or a client that is a little fast would never be answered.
    return {
      outcome: 'slow_down',
      grant: { ...grant, slowDowns },
      intervalMs: terms.intervalMs + slowDowns * slowDownMs,
    };
  }
  return {
    ...refused('authorization_pending', 'The person has not decided yet.'),
    grant: { ...grant, lastPollAt: now },
  };
}

/** Judges an approval or a denial: the first one counts. */
export function judgeDecision(
  grant: DeviceGrant | undefined,
  decision: Pick<DeviceGrant, 'accountId' | 'organizationId'> & { readonly approve: boolean },
  now: number,
): DecisionVerdict {
  if (!grant || now >= grant.expiresAt) return unknownUserCode;
  if (grant.state !== 'pending') return refused('conflict', 'This request has been decided already.');
  const { accountId, organizationId, approve } = decision;
  return {
    outcome: 'decided',
    grant: { ...grant, state: approve ? 'approved' : 'denied', accountId, organizationId },
  };
}

/** Consonants only: no words by accident, and nothing that is read in two ways (RFC 8628 6.1). */
const letters = 'BCDFGHJKLMNPQRSTVWXZ';

/** Eight letters, 34.6 bits; bytes past the last whole multiple are drawn again, or some letters would come up more often. */
export function newUserCode(random: Random): string {
  const limit = 256 - (256 % letters.length);
  let code = '';
  while (code.length < 8) {
    for (const byte of random.bytes(8)) {
      if (byte < limit && code.length < 8) code += letters.charAt(byte % letters.length);
    }
  }
  return code;
}

/** As a person types it: any case and width, with or without dash and spaces. */
export function readUserCode(typed: string): string {
  return typed
    .normalize('NFKC')
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '');
}

export function showUserCode(userCode: string): string {
  return `${userCode.slice(0, 4)}-${userCode.slice(4)}`;
}
