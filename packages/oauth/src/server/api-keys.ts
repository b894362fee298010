import { crc32 } from 'node:zlib';
import { ServiceError, type Random } from '@sallyport/core';
import { apiKeyScopes } from '@sallyport/core/scopes';
import type { Context } from './context.ts';
import { tellRevocation } from './grants.ts';
import type { ApiKey, Role } from './records.ts';
import { permissionsOf } from './roles.ts';
import { isWithin, scopeList } from './scopes.ts';
import { scopeFromWire, scopeToWire } from './wire-scopes.ts';
import { hashSecret, secretPrefixes } from './secrets.ts';
import { invalidToken } from './signer.ts';

/** Whose keys. */
export interface ApiKeyOwner {
  readonly accountId: string;
  readonly organizationId: string;
}

/** Who a key is of, by today's membership. */
export interface ApiKeyGrant extends ApiKeyOwner {
  readonly keyId: string;
  readonly role: Role;
  readonly permissions: readonly string[];
  /** In neutral words. */
  readonly scopes: readonly string[];
  /** Epoch milliseconds; absent: never. */
  readonly expiresAt?: number;
}

/** A person's secrets for programs. */
export interface ApiKeys {
  /**
   * Gives the key, shown once. `scope` is in the dialect's words. Throws `invalid_scope` for one that the caller has not,
   * `forbidden` to a key: one that was stolen, or is about to expire, must not leave another behind; `quota_exceeded` where there
   * are too many, `invalid_token` to whom is no member any more.
   */
  create(
    creator: ApiKeyOwner & { readonly scopes: readonly string[]; readonly isApiKey: boolean },
    input: { readonly name?: string; readonly scope?: string; readonly expiresInSeconds?: number },
  ): Promise<string>;
  /** Throws `invalid_token`. */
  verify(key: string): Promise<ApiKeyGrant>;
  /** Newest first. */
  list(owner: ApiKeyOwner): Promise<readonly ApiKey[]>;
  /** Throws `not_found` where the owner has no such key. */
  revoke(keyId: string, owner: ApiKeyOwner): Promise<void>;
}

/** Keys of one account in one organization: a list shows all of them. */
const maxKeys = 1000;
/** `lastUsedAt` is written at most so often. */
const touchMs = 60_000;

export function createApiKeys(context: Context): ApiKeys {
  const { store, clock, random, ids, dialect, log } = context;
  const { acts, reads } = store;

  function touch(keyId: string): void {
    // Nobody waits for it: a call with a key costs a read.
    acts.touchApiKey({ keyId, at: clock.now() }).catch((error: unknown) => {
      log.warn({ err: error, keyId }, 'the last use of an API key was not written');
    });
  }

  return {
    async create({ accountId, organizationId, scopes, isApiKey }, { name, scope, expiresInSeconds }) {
      if (isApiKey)
        throw new ServiceError('forbidden', 'An API key makes no other: log in, and use that login.');
      const allowed = apiKeyScopes.filter((one) => scopes.includes(one));
      const asked = scopeList(scopeFromWire(scope ?? '', dialect)).join(' ');
      if (!isWithin(asked, allowed.join(' ')))
        throw new ServiceError(
          'invalid_scope',
          `The scope exceeds what a key of this login may have: ${scopeToWire(allowed.join(' '), dialect) || 'none'}.`,
        );
      const key = newApiKey(random);
      const now = clock.now();
      const record: ApiKey = {
        id: ids.uuid(),
        accountId,
        organizationId,
        name: name ?? null,
        scope: asked || allowed.join(' '),
        createdAt: now,
        expiresAt: expiresInSeconds === undefined ? null : now + expiresInSeconds * 1000,
        lastUsedAt: null,
      };
      const outcome = await acts.addApiKey({
        key: { ...record, hash: hashSecret(key) },
        max: maxKeys,
        now,
      });
      // It was let in a moment ago: what it came by has ended since.
      if (outcome === 'no_member') throw invalidToken();
      if (outcome === 'too_many')
        throw new ServiceError(
          'quota_exceeded',
          `The account has ${maxKeys} API keys, and may have no more: revoke those that are not used.`,
          { details: { quota: 'api_keys', limit: maxKeys } },
        );
      log.info({ keyId: record.id, accountId, organizationId, scope: record.scope }, 'an API key was made');
      return key;
    },

    async verify(key) {
      const now = clock.now();
      const found = isGenuine(key) ? await reads.apiKey({ hash: hashSecret(key), now }) : undefined;
      if (!found) throw invalidToken();
      const { id: keyId, accountId, organizationId, role, scope, expiresAt, lastUsedAt } = found;
      if (lastUsedAt === null || now - lastUsedAt >= touchMs) touch(keyId);
      const permissions = permissionsOf[role];
      const scopes = scopeList(scope);
      const grant = { keyId, accountId, organizationId, role, permissions, scopes };
      return { ...grant, ...(expiresAt !== null && { expiresAt }) };
    },

    list: (owner) => reads.apiKeys({ ...only(owner), now: clock.now(), limit: maxKeys }),

    async revoke(keyId, owner) {
      if (!(await acts.revokeApiKey({ keyId, ...only(owner), now: clock.now() })))
        throw new ServiceError('not_found', 'There is no such API key.');
      tellRevocation(context);
      log.info({ keyId, ...only(owner) }, 'an API key was revoked');
    },
  };
}

/** An owner may come as part of a larger object, of which the store gets no more than it is to have. */
function only({ accountId, organizationId }: ApiKeyOwner): ApiKeyOwner {
  return { accountId, organizationId };
}

export function isApiKey(text: string): boolean {
  return text.startsWith(secretPrefixes.apiKey);
}

/** 32 random bytes and their CRC-32, so that a scanner for leaked secrets, and we, tell a key from what only looks like one. */
function newApiKey(random: Random): string {
  const secret = Buffer.from(random.bytes(32));
  return secretPrefixes.apiKey + Buffer.concat([secret, checksum(secret)]).toString('base64url');
}

function isGenuine(key: string): boolean {
  if (!isApiKey(key)) return false;
  const text = key.slice(secretPrefixes.apiKey.length);
  const bytes = Buffer.from(text, 'base64url');
  // The second clause refuses what Node.js's decoder would overlook.
  return (
    bytes.length === 36 &&
    bytes.toString('base64url') === text &&
    checksum(bytes.subarray(0, 32)).equals(bytes.subarray(32))
  );
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
