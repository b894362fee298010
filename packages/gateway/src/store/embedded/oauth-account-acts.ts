import type { DatabaseSync } from 'node:sqlite';
import type { Hashed, OAuthActs, Session } from '@sallyport/oauth/storage';
import type { Sync } from './acts.ts';
import { lastAdmin } from './oauth-last-admin.ts';
import { owner } from './oauth-rows.ts';

/** Passwords, sessions and trusted devices of accounts. */
export function accountActs(
  db: DatabaseSync,
): Sync<
  Pick<
    OAuthActs,
    | 'addSetupToken'
    | 'redeemSetupToken'
    | 'setPassword'
    | 'addSession'
    | 'touchSession'
    | 'endSession'
    | 'endOtherSessions'
    | 'addTrustedDevice'
    | 'touchTrustedDevice'
    | 'revokeTrustedDevice'
  >
> {
  const replaceSetupToken = db.prepare(
    'INSERT OR REPLACE INTO setup_token (account_id, hash, expires_at) VALUES (?, ?, ?)',
  );
  const takeSetupToken = db.prepare(
    'DELETE FROM setup_token WHERE hash = ? AND expires_at > ? RETURNING account_id',
  );
  const dropSetupToken = db.prepare('DELETE FROM setup_token WHERE account_id = ?');
  const presentPassword = db.prepare('SELECT password_hash FROM account WHERE id = ?');
  // Guesses at the one before say nothing of the new one: its person is let in at once.
  const updatePassword = db.prepare(
    'UPDATE account SET password_hash = ?, unlocks = unlocks + 1 WHERE id = ?',
  );
  const deleteSessionsOf = db.prepare('DELETE FROM account_session WHERE account_id = ?');
  const insertSession = db.prepare(
    `INSERT INTO account_session (id, hash, account_id, address, user_agent, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const touchSession = db.prepare(
    'UPDATE account_session SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE id = ?',
  );
  const deleteSession = db.prepare('DELETE FROM account_session WHERE id = ? AND account_id = ?');
  const deleteOtherSessions = db.prepare('DELETE FROM account_session WHERE id <> ? AND account_id = ?');
  const standingDevices = db.prepare(
    `SELECT count(*) AS count FROM trusted_device
     WHERE account_id = ? AND organization_id = ? AND revoked_at IS NULL`,
  );
  const insertDevice = db.prepare(
    `INSERT INTO trusted_device (id, hash, account_id, organization_id, display_name, created_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const touchDevice = db.prepare('UPDATE trusted_device SET last_used_at = ? WHERE id = ?');
  const deviceOf = db.prepare(
    `SELECT account_id FROM trusted_device
     WHERE id = ?1 AND account_id = coalesce(?2, account_id) AND organization_id = ?3`,
  );
  const revokeDevice = db.prepare(
    'UPDATE trusted_device SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL',
  );
  const { present } = lastAdmin(db);

  function setPassword(accountId: string, passwordHash: string): void {
    updatePassword.run(passwordHash, accountId);
    // Whoever knew the old password, or has a link to set another, is out.
    deleteSessionsOf.run(accountId);
    dropSetupToken.run(accountId);
  }
  function isPresent(passwordHash: string | null, accountId: string): boolean {
    return presentPassword.get(accountId)?.['password_hash'] === passwordHash;
  }
  function addSession(session: Hashed<Session>): void {
    const { id, hash, accountId, address, userAgent, createdAt, expiresAt } = session;
    insertSession.run(id, hash, accountId, address, userAgent, createdAt, expiresAt);
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
    setPassword({ accountId, passwordHash, session, replaced }) {
      if (replaced !== undefined && !isPresent(replaced, accountId)) return false;
      setPassword(accountId, passwordHash);
      if (session) addSession({ ...session, accountId });
      return true;
    },
    addSession({ session, passwordHash }) {
      if (passwordHash !== undefined && !isPresent(passwordHash, session.accountId)) return false;
      addSession(session);
      return true;
    },
    touchSession({ sessionId, at }) {
      touchSession.run(at, sessionId);
    },
    endSession: ({ sessionId, accountId }) => deleteSession.run(sessionId, accountId).changes > 0,
    endOtherSessions: ({ sessionId, accountId }) =>
      Number(deleteOtherSessions.run(sessionId, accountId).changes),
    addTrustedDevice({ device, max }) {
      const { id, hash, accountId, organizationId, displayName, createdAt } = device;
      if (present(accountId, organizationId) === undefined) return 'no_member';
      if (Number(standingDevices.get(accountId, organizationId)?.['count']) >= max) return 'too_many';
      insertDevice.run(id, hash, accountId, organizationId, displayName, createdAt);
      return 'added';
    },
    touchTrustedDevice({ deviceId, at }) {
      touchDevice.run(at, deviceId);
    },
    revokeTrustedDevice({ deviceId, accountId, organizationId, now }) {
      const device = owner(deviceOf.get(deviceId, accountId ?? null, organizationId));
      return device && { ...device, isNew: revokeDevice.run(now, deviceId).changes > 0 };
    },
  };
}
