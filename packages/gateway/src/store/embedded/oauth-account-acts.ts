import type { DatabaseSync } from 'node:sqlite';
import type { Hashed, Session } from '@sallyport/oauth/storage';
import type { OAuthActsOf } from './oauth-acts.ts';

/** Passwords, sessions and trusted devices of accounts. */
export function accountActs(
  db: DatabaseSync,
): OAuthActsOf<
  | 'addSetupToken'
  | 'redeemSetupToken'
  | 'setPassword'
  | 'addSession'
  | 'endSession'
  | 'addTrustedDevice'
  | 'touchTrustedDevice'
  | 'revokeTrustedDevice'
> {
  const replaceSetupToken = db.prepare(
    'INSERT OR REPLACE INTO setup_token (account_id, hash, expires_at) VALUES (?, ?, ?)',
  );
  const takeSetupToken = db.prepare(
    'DELETE FROM setup_token WHERE hash = ? AND expires_at > ? RETURNING account_id',
  );
  const updatePassword = db.prepare('UPDATE account SET password_hash = ? WHERE id = ?');
  const deleteSessionsOf = db.prepare('DELETE FROM account_session WHERE account_id = ?');
  const insertSession = db.prepare(
    'INSERT INTO account_session (id, hash, account_id, created_at, expires_at) VALUES (?, ?, ?, ?, ?)',
  );
  const deleteSession = db.prepare('DELETE FROM account_session WHERE id = ?');
  const insertDevice = db.prepare(
    `INSERT INTO trusted_device (id, hash, account_id, organization_id, display_name, created_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const touchDevice = db.prepare('UPDATE trusted_device SET last_used_at = ? WHERE id = ?');
  const revokeDevice = db.prepare(
    'UPDATE trusted_device SET revoked_at = coalesce(revoked_at, ?) WHERE id = ? AND account_id = ? AND organization_id = ?',
  );

  function setPassword(accountId: string, passwordHash: string): void {
    updatePassword.run(passwordHash, accountId);
    // Whoever knew the old password is out.
    deleteSessionsOf.run(accountId);
  }
  function addSession({ id, hash, accountId, createdAt, expiresAt }: Hashed<Session>): void {
    insertSession.run(id, hash, accountId, createdAt, expiresAt);
  }

  return {
    addSetupToken({ hash, accountId, expiresAt }) {
      replaceSetupToken.run(accountId, hash, expiresAt);
    },
    redeemSetupToken({ hash, passwordHash, session, now }) {
      const taken = takeSetupToken.get(hash, now);
      if (!taken) return undefined;
      const accountId = taken['account_id'] as string;
      setPassword(accountId, passwordHash);
      addSession({ ...session, accountId });
      return { accountId };
    },
    setPassword: ({ accountId, passwordHash }) => setPassword(accountId, passwordHash),
    addSession: ({ session }) => addSession(session),
    endSession({ sessionId }) {
      deleteSession.run(sessionId);
    },
    addTrustedDevice({ device: { id, hash, accountId, organizationId, displayName, createdAt } }) {
      insertDevice.run(id, hash, accountId, organizationId, displayName, createdAt);
    },
    touchTrustedDevice({ deviceId, at }) {
      touchDevice.run(at, deviceId);
    },
    revokeTrustedDevice: ({ deviceId, accountId, organizationId, now }) =>
      revokeDevice.run(now, deviceId, accountId, organizationId).changes > 0,
  };
}
