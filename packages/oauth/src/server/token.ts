import { ServiceError } from '@sallyport/core';
import { deviceGrantType, type TokenResponse } from '@sallyport/core/contract';
import type { AccessTokens } from './access-token.ts';
import { checkGrantType, unknownClient } from './clients.ts';
import { missing, sentParameters, termsOf, type Context } from './context.ts';
import { createFailures } from './failures.ts';
import { unknownRefreshToken } from './family.ts';
import { tellRevocation } from './grants.ts';
import { networkOf } from './network.ts';
import { isVerifier } from './pkce.ts';
import type { Client, Family, GrantType } from './records.ts';
import { readRefreshToken, refreshToken } from './refresh-token.ts';
import { toServiceError } from './refusal.ts';
import { scopeFromWire, scopeToWire } from './wire-scopes.ts';
import { hashSecret } from './secrets.ts';

type Sent = Readonly<Record<string, string | undefined>>;

/** The token endpoint (RFC 6749 3.2, RFC 8628 3.4): `body` is what came as JSON or form, `address` where it came from. */
export type TokenEndpoint = (
  body: Readonly<Record<string, unknown>>,
  address: string,
) => Promise<TokenResponse>;

/** The login, and the scope that its next access token has. */
interface Issue {
  readonly family: Family;
  readonly scope: string;
}

/** What was sent, by whom and from where, becomes a login. */
type Redeem = (sent: Sent, client: Client, address: string) => Promise<Issue>;

/**
 * The order of checks is fixed: grant type, client, parameters, then, inside one act of the store, the artefact, its
 * client, all else, and only then its consumption.
 */
export function createTokenEndpoint(context: Context, accessTokens: AccessTokens): TokenEndpoint {
  const { store, clock, ids, config, dialect, log, refreshKey } = context;
  const { acts, reads } = store;
  const terms = termsOf(config);
  const failures = createFailures(clock, config.failures.tokens, config.failures.windowSeconds * 1000);

  const grants: Readonly<Record<GrantType, Redeem>> = {
    async authorization_code(sent, client, address) {
      const { code, code_verifier: verifier, redirect_uri: redirectUri } = sent;
      if (code === undefined) throw missing('code');
      if (redirectUri === undefined) throw missing('redirect_uri');
      if (verifier === undefined) throw missing('code_verifier');
      if (!isVerifier(verifier))
        throw new ServiceError('invalid_request', 'code_verifier must be 43 to 128 unreserved characters.');
      const verdict = await acts.consumeCode({
        hash: hashSecret(code),
        presented: { clientId: client.id, redirectUri, verifier, address, familyId: ids.uuid() },
        now: clock.now(),
        terms,
      });
      if (verdict.outcome === 'refused') {
        const revoked = verdict.save?.family;
        if (revoked) {
          tellRevocation(context);
          log.warn({ ...who(revoked) }, 'an authorization code was replayed: its login is revoked');
        }
        throw toServiceError(verdict);
      }
      return { family: verdict.family, scope: verdict.family.scope };
    },

    async refresh_token(sent, client) {
      if (sent['refresh_token'] === undefined) throw missing('refresh_token');
      const named = readRefreshToken(sent['refresh_token'], refreshKey);
      if (!named) throw toServiceError(unknownRefreshToken);
      // Of blanks alone it names nothing: as if it were left out, or the access token would be good for nothing.
      const scope = scopeFromWire(sent['scope'] ?? '', dialect) || undefined;
      const verdict = await acts.rotateRefresh({
        familyId: named.id,
        presented: { clientId: client.id, generation: named.generation, scope },
        now: clock.now(),
        terms,
      });
      if (verdict.outcome === 'rotated' || verdict.outcome === 'repeated')
        return { family: verdict.family, scope: scope ?? verdict.family.scope };
      if (verdict.outcome === 'revoked') {
        tellRevocation(context);
        log.warn({ ...who(verdict.family) }, 'a refresh token was replayed: its login is revoked');
      }
      countRefused(`family ${named.id}`, 'refresh_token');
      throw new ServiceError(verdict.code, verdict.description);
    },

    async [deviceGrantType](sent, client) {
      if (sent['device_code'] === undefined) throw missing('device_code');
      const verdict = await acts.pollDeviceGrant({
        hash: hashSecret(sent['device_code']),
        presented: { clientId: client.id, familyId: ids.uuid() },
        now: clock.now(),
        terms,
      });
      if (verdict.outcome === 'issued') return { family: verdict.family, scope: verdict.family.scope };
      if (verdict.outcome === 'slow_down') throw slowDown(verdict.intervalMs);
      throw toServiceError(verdict);
    },
  };

  return async (body, address) => {
    const sent = sentParameters(body);
    const grantType = sent['grant_type'];
    if (grantType === undefined) throw missing('grant_type');
    if (!isGrantType(grantType))
      throw new ServiceError('unsupported_grant_type', 'The grant type is not supported.');
    if (sent['client_id'] === undefined) throw missing('client_id');
    // Failures are counted, not requests: behind one address there may be many processes.
    const counter = `client ${sent['client_id'].slice(0, 64)} ${networkOf(address)}`;
    try {
      const client = await reads.client({ clientId: sent['client_id'] });
      if (!client) throw unknownClient();
      checkGrantType(client, grantType);
      const { family, scope } = await grants[grantType](sent, client, address);
      return {
        access_token: await accessTokens.mint(family, scope),
        token_type: 'Bearer',
        expires_in: config.accessTokenSeconds,
        refresh_token: refreshToken(family, refreshKey),
        scope: scopeToWire(scope, dialect),
      };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.code === 'invalid_grant' || error.code === 'invalid_client') countRefused(counter, grantType);
      throw error;
    }
  };

  /** Throws after too many. Only what fails is refused: a good token is no guess, and many share the address. */
  function countRefused(counter: string, grantType: GrantType): void {
    const blockedMs = failures.blockedMs(counter);
    failures.count(counter);
    if (blockedMs !== undefined) throw tooManyRefused(blockedMs, grantType);
  }

  function isGrantType(text: string): text is GrantType {
    return Object.hasOwn(grants, text);
  }
}

function isPoll(grantType: GrantType): boolean {
  return grantType === deviceGrantType;
}

function tooManyRefused(retryAfterMs: number, grantType: GrantType): ServiceError {
  // openid-client goes on polling after `slow_down` but gives the login up at any other 429.
  const code = isPoll(grantType) ? 'slow_down' : 'temporarily_unavailable';
  return new ServiceError(code, 'Too many refused requests: wait.', { status: 429, retryAfterMs });
}

function slowDown(intervalMs: number): ServiceError {
  return new ServiceError('slow_down', 'Poll more slowly.', {
    details: { interval: Math.ceil(intervalMs / 1000) },
    retryAfterMs: intervalMs,
  });
}

/** What an audit needs to know of a login. */
function who({ id, accountId, clientId, organizationId }: Family) {
  return { familyId: id, accountId, clientId, organizationId };
}
