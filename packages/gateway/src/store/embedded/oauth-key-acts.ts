import type { DatabaseSync } from 'node:sqlite';
import type { OAuthActs } from '@sallyport/oauth/storage';
import type { Sync } from './acts.ts';
import { lastAdmin } from './oauth-last-admin.ts';
import { owner } from './oauth-rows.ts';

/** API keys. */
export function apiKeyActs(
  db: DatabaseSync,
): Sync<Pick<OAuthActs, 'addApiKey' | 'touchApiKey' | 'revokeApiKey'>> {
  const standing = db.prepare(
    `SELECT count(*) AS count FROM api_key
     WHERE account_id = ? AND organization_id = ? AND revoked_at IS NULL AND coalesce(expires_at > ?, TRUE)`,
  );
  const insert = db.prepare(
    `INSERT INTO api_key (id, hash, account_id, organization_id, name, scope, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const touch = db.prepare(
    'UPDATE api_key SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?',
  );
  const keyOf = db.prepare(
    `SELECT account_id FROM api_key
     WHERE id = ?1 AND account_id = coalesce(?2, account_id) AND organization_id = ?3`,
  );
  const revoke = db.prepare(
    // Its time is up, too: so the sweep takes it away.
    `UPDATE api_key SET revoked_at = ?1, expires_at = min(coalesce(expires_at, ?1), ?1)
     WHERE id = ?2 AND revoked_at IS NULL`,
  );
  const { present } = lastAdmin(db);

  return {
    addApiKey({ key, max, now }) {
      const { id, hash, accountId, organizationId, name, scope, createdAt, expiresAt } = key;
      if (present(accountId, organizationId) === undefined) return 'no_member';
      if (Number(standing.get(accountId, organizationId, now)?.['count']) >= max) return 'too_many';
      insert.run(id, hash, accountId, organizationId, name, scope, createdAt, expiresAt);
      return 'added';
    },
    touchApiKey({ keyId, at }) {
      touch.run(at, keyId);
    },
    revokeApiKey({ keyId, accountId, organizationId, now }) {
      const key = owner(keyOf.get(keyId, accountId ?? null, organizationId));
      return key && { ...key, isNew: revoke.run(now, keyId).changes > 0 };
    },
  };
}
