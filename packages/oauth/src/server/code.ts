import type { Code, Family } from './records.ts';
import { beginFamily, type RefreshTerms } from './family.ts';
import { verifierFits } from './pkce.ts';
import { refused, type Refused } from './refusal.ts';

export interface CodeTerms extends RefreshTerms {
  readonly replayMs: number;
}

/** What a token request brings along with a code. */
export interface PresentedCode {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly verifier: string;
  /** Where the request came from. */
  readonly address: string;
  /** The id of the family that would begin. */
  readonly familyId: string;
}

/** A code as the store has it: with its family, where it was used, and whether its giver still may. */
export interface StoredCode {
  readonly code: Code;
  readonly family: Family | undefined;
  /** The session stands, and its account is a member of the organization. */
  readonly isGiverPresent: boolean;
}

export type CodeVerdict =
  /** Save the code, insert the family. */
  | { readonly outcome: 'issued'; readonly code: Code; readonly family: Family }
  | { readonly outcome: 'repeated'; readonly family: Family }
  /** Save the code, which counts one more mismatch, or the family, which a replay revokes. */
  | (Refused & { readonly save?: { readonly code?: Code; readonly family?: Family } });

/** Wrong verifiers that a code survives. */
const maxMismatches = 5;

/** Judges the exchange of a code (RFC 6749 4.1.3, RFC 7636 4.6). */
export function judgeCode(
  stored: StoredCode | undefined,
  presented: PresentedCode,
  now: number,
  terms: CodeTerms,
): CodeVerdict {
  if (!stored || stored.code.clientId !== presented.clientId)
    return refused('invalid_grant', 'The code is not known.');
  const { code, family, isGiverPresent } = stored;
  const fits = code.redirectUri === presented.redirectUri && verifierFits(presented.verifier, code.challenge);

  if (code.usedAt !== null) {
    // Judged before expiry: a replay tells of a theft however late it comes (RFC 6749 4.1.2).
    const mayRepeat = fits && terms.replayMs > 0 && now - code.usedAt <= terms.replayMs;
    if (mayRepeat && family?.generation === 1 && family.revokedAt === null)
      return { outcome: 'repeated', family };
    const replay = refused('invalid_grant', 'The code was used before; the login that it began is revoked.');
    return family?.revokedAt === null
      ? { ...replay, save: { family: { ...family, revokedAt: now } } }
      : replay;
  }
  if (now >= code.expiresAt) return refused('invalid_grant', 'The code has expired.');
  if (code.mismatches > maxMismatches || !isGiverPresent)
    return refused('invalid_grant', 'The code is not valid any more.');
  if (code.redirectUri !== presented.redirectUri)
    return refused('invalid_grant', 'The redirect_uri is not the one that the code was sent to.');
  if (!fits) {
    return {
      ...refused('invalid_grant', 'The code_verifier does not fit the code_challenge.'),
      save: { code: { ...code, mismatches: code.mismatches + 1 } },
    };
  }
  return {
    outcome: 'issued',
    code: { ...code, usedAt: now, familyId: presented.familyId },
    family: beginFamily(presented.familyId, { ...code, address: presented.address }, now, terms),
  };
}
