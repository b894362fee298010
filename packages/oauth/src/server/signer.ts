import { createPrivateKey, sign, type KeyObject } from 'node:crypto';
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  jwtVerify,
  type CryptoKey,
  type JWK,
  type JWTPayload,
} from 'jose';
import { ServiceError, type Clock } from '@sallyport/core';
import type { OAuthStore } from './ports.ts';
import type { SigningKey } from './records.ts';

/** Which kind of token: `type` and `audience` keep one kind from passing as another (RFC 8725 3.11, 3.12). */
export interface TokenKind {
  readonly type: string;
  readonly audience: string;
}

/** Signs and verifies the service's JWTs: ES256, `kid`, `iss`, `iat`, `exp`. */
export interface Signer {
  /** `lifetimeSeconds` is at most the signer's `maxLifetimeSeconds`: the key is published for no longer. */
  sign(claims: JWTPayload, kind: TokenKind & { readonly lifetimeSeconds: number }): Promise<string>;
  /** Throws `invalid_token`. */
  verify(
    token: string,
    kind: TokenKind,
  ): Promise<JWTPayload & { readonly exp: number; readonly iat: number }>;
  /** The public keys (RFC 7517): those that sign, those that will, and those whose tokens are still alive. */
  jwks(): Promise<{ readonly keys: readonly PublicJwk[] }>;
  /** Publishes a next key, which takes over once verifiers know it; throws `conflict` while one is waiting. */
  rotate(): Promise<{ readonly kid: string; readonly signsFrom: number }>;
}

/** RFC 7517, public members only. */
export type PublicJwk = JWK & { readonly kty: string };

export interface SignerOptions {
  readonly store: OAuthStore;
  readonly clock: Clock;
  readonly issuer: string;
  /** The longest life of a token that is signed here: for so long a retired key stays published. */
  readonly maxLifetimeSeconds: number;
}

const algorithm = 'ES256';
/** Keys are read again at most so often: another process may have rotated them, and a flood of unknown `kid`s must not read. */
const reloadMs = 30_000;
/** More than the 5 minutes that the JWKS may be cached, and the 10 that jose caches it. */
const publishAheadMs = 15 * 60_000;
const retireMarginMs = 5 * 60_000;
/** How far another host's clock may be ahead. */
const maxAheadSeconds = 60;

interface LoadedKey extends SigningKey {
  readonly privateKey: KeyObject;
  readonly publicKey: CryptoKey;
  readonly publicJwk: PublicJwk;
}

/** Opens the key ring; the first key is made where there is none. */
export async function createSigner(options: SignerOptions): Promise<Signer> {
  const { store, clock, issuer, maxLifetimeSeconds } = options;
  const imported = new Map<string, LoadedKey>();
  let loaded: { readonly at: number; readonly keys: Promise<readonly LoadedKey[]> } | undefined;

  if ((await store.reads.signingKeys({ now: clock.now() })).length === 0)
    await store.acts.addFirstKey({ key: await newKey(clock.now()) });

  /** Those that are published now, newest first. */
  async function keys(): Promise<readonly LoadedKey[]> {
    if (loaded === undefined || clock.monotonic() - loaded.at >= reloadMs) {
      const reading = { at: clock.monotonic(), keys: load() };
      loaded = reading;
      reading.keys.catch(() => {
        if (loaded === reading) loaded = undefined;
      });
    }
    const now = clock.now();
    return (await loaded.keys).filter((key) => key.publishedUntil === null || key.publishedUntil > now);
  }

  async function load(): Promise<readonly LoadedKey[]> {
    const records = await store.reads.signingKeys({ now: clock.now() });
    const all = await Promise.all(
      records.map(async (record) => {
        const known = imported.get(record.kid) ?? (await importKey(record));
        imported.set(record.kid, known);
        return { ...known, ...record };
      }),
    );
    return all.sort((a, b) => b.signsFrom - a.signsFrom);
  }

  return {
    async sign(claims, { type, audience, lifetimeSeconds }) {
      if (lifetimeSeconds > maxLifetimeSeconds)
        throw new RangeError(`A token of ${lifetimeSeconds} s would outlive its key.`);
      const now = Math.floor(clock.now() / 1000);
      const all = await keys();
      const key = all.find(({ signsFrom }) => signsFrom <= clock.now()) ?? all.at(-1);
      if (!key) throw new Error('There is no key to sign with.');
      const header = { alg: algorithm, typ: type, kid: key.kid };
      const stated = { iss: issuer, aud: audience, iat: now, exp: now + lifetimeSeconds };
      return signed(header, { ...claims, ...stated }, key.privateKey);
    },
    async verify(token, { type, audience }) {
      const now = clock.now();
      // Outside of the `try`: a store that does not answer says nothing about the token.
      const ring = await keys();
      try {
        if (!isCompact(token)) throw new Error('not the compact serialization');
        const { payload } = await jwtVerify(
          token,
          ({ kid }) => {
            const key = ring.find((one) => one.kid === kid);
            if (!key) throw new Error('unknown kid');
            return key.publicKey;
          },
          {
            algorithms: [algorithm],
            typ: type,
            issuer,
            audience,
            requiredClaims: ['exp', 'iat'],
            currentDate: new Date(now),
          },
        );
        const { exp, iat } = payload;
        if (exp === undefined || iat === undefined || iat * 1000 > now + maxAheadSeconds * 1000)
          throw new Error('from the future');
        return { ...payload, exp, iat };
      } catch (cause) {
        throw invalidToken(cause);
      }
    },
    async jwks() {
      return { keys: (await keys()).map(({ publicJwk }) => publicJwk) };
    },
    async rotate() {
      const now = clock.now();
      const next = await newKey(now + publishAheadMs);
      const retireAt = next.signsFrom + maxLifetimeSeconds * 1000 + retireMarginMs;
      if (!(await store.acts.rotateKeys({ next, retireAt, now })))
        throw new ServiceError(
          'conflict',
          `The last rotation is still under way: its key does not sign yet. Rotate again in ${publishAheadMs / 60_000} minutes at the latest.`,
        );
      loaded = undefined;
      return { kid: next.kid, signsFrom: next.signsFrom };
    },
  };
}

/**
 * The compact serialization (RFC 7515 7.1) with an ES256 signature (RFC 7518 3.4). By Node in this thread, not by jose: WebCrypto
 * hands each signature to another thread and back, which takes as long again as the signature.
 */
function signed(header: object, claims: JWTPayload, key: KeyObject): string {
  const input = `${encode(header)}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/** What a bearer that proves nothing is refused with. */
export function invalidToken(cause?: unknown): ServiceError {
  return new ServiceError('invalid_token', 'The token is not valid, has expired or was revoked.', { cause });
}

/**
 * RFC 7515 2 and 7.1: base64url without padding, and without bits that say nothing. Decoders overlook both, so that one token
 * would have many spellings.
 */
function isCompact(token: string): boolean {
  const signature = /^[\w-]+\.[\w-]+\.([\w-]+)$/.exec(token)?.[1];
  return signature !== undefined && Buffer.from(signature, 'base64url').toString('base64url') === signature;
}

async function newKey(signsFrom: number): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(privateKey);
  return {
    kid: await calculateJwkThumbprint(jwk),
    privateJwk: JSON.stringify(jwk),
    signsFrom,
    publishedUntil: null,
  };
}

async function importKey(record: SigningKey): Promise<LoadedKey> {
  const privateJwk = JSON.parse(record.privateJwk) as JWK;
  const { kty, crv, x, y } = privateJwk as Required<Pick<JWK, 'kty' | 'crv' | 'x' | 'y'>>;
  const publicJwk = { kty, crv, x, y, kid: record.kid, alg: algorithm, use: 'sig' };
  return {
    ...record,
    privateKey: createPrivateKey({ key: { ...privateJwk }, format: 'jwk' }),
    publicKey: (await importJWK(publicJwk, algorithm)) as CryptoKey,
    publicJwk,
  };
}
