import { createLru } from '@sallyport/core';
import type { Context } from './context.ts';
import { permissionsOf } from './roles.ts';
import { scopeList } from './scopes.ts';
import { scopeFromWire, scopeToWire } from './wire-scopes.ts';
import { hashSecret } from './secrets.ts';
import { invalidToken } from './signer.ts';
import type { Family, Role } from './records.ts';

/** What an access token says (RFC 9068 2.2), less what every token of the signer has. */
interface AccessClaims {
  readonly sub: string;
  readonly client_id: string;
  readonly jti: string;
  readonly scope: string;
  readonly org: string;
  /** The family: what a revoked login is told by. */
  readonly fid: string;
  readonly exp: number;
}

/** A token that was verified: its claims, and what follows from them alone. */
interface Verified {
  readonly claims: AccessClaims;
  readonly scopes: readonly string[];
}

/** Who an access token is of, by today's membership. */
export interface Grant {
  readonly accountId: string;
  readonly organizationId: string;
  readonly clientId: string;
  readonly role: Role;
  readonly permissions: readonly string[];
  /** In neutral words. */
  readonly scopes: readonly string[];
  readonly familyId: string;
  readonly tokenId: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export interface AccessTokens {
  mint(family: Family, scope: string): Promise<string>;
  /** Checks signature, times, and that neither token nor login was revoked; throws `invalid_token`. */
  verify(token: string): Promise<Grant>;
}

const type = 'at+jwt';
/** Verified tokens remembered: an ES256 verification costs more than all else that a request does. */
const keptTokens = 10_000;

export function createAccessTokens(context: Context): AccessTokens {
  const { signer, ids, issuer, dialect, clock, store, config } = context;
  const verified = createLru<Verified>(keptTokens);

  async function verifiedOf(token: string): Promise<Verified> {
    const key = hashSecret(token);
    const known = verified.get(key);
    if (known && known.claims.exp * 1000 > clock.now()) return known;
    const claims = toClaims(await signer.verify(token, { type, audience: issuer }));
    const anew = { claims, scopes: scopeList(scopeFromWire(claims.scope, dialect)) };
    verified.set(key, anew);
    return anew;
  }

  return {
    mint({ id, accountId, clientId, organizationId }, scope) {
      return signer.sign(
        {
          sub: accountId,
          client_id: clientId,
          jti: ids.uuid(),
          scope: scopeToWire(scope, dialect),
          org: organizationId,
          fid: id,
        },
        { type, audience: issuer, lifetimeSeconds: config.accessTokenSeconds },
      );
    },
    async verify(token) {
      const { claims, scopes } = await verifiedOf(token);
      // Never cached: a revocation, or a lost membership, counts at once.
      const standing = await store.reads.standing({ familyId: claims.fid, jti: claims.jti });
      if (!standing) throw invalidToken();
      return {
        accountId: claims.sub,
        organizationId: claims.org,
        clientId: claims.client_id,
        role: standing.role,
        permissions: permissionsOf[standing.role],
        scopes,
        familyId: claims.fid,
        tokenId: claims.jti,
        expiresAt: claims.exp * 1000,
      };
    },
  };
}

function toClaims(payload: Readonly<Record<string, unknown>> & { readonly exp: number }): AccessClaims {
  const text = (name: string): string => {
    const value = payload[name];
    if (typeof value !== 'string') throw invalidToken();
    return value;
  };
  return {
    sub: text('sub'),
    client_id: text('client_id'),
    jti: text('jti'),
    scope: text('scope'),
    org: text('org'),
    fid: text('fid'),
    exp: payload.exp,
  };
}
